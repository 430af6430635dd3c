//! gRPC reflection, with the comments of `proto/`. The description is decoded on the first request
//! and cached, because most servers never need it.

use std::io::Read as _;
use std::sync::{Arc, LazyLock};

use connectrpc_reflection::wire::{v1, v1alpha};
use connectrpc_reflection::{
    ReflectionService, Reflector, ServerReflection, ServerReflectionExt, ServerReflectionV1alpha,
    ServerReflectionV1alphaExt,
};
use contract::rpc::{self, InboundStream, RequestContext, Routes, ServiceResult, ServiceStream};

/// Buffer size of brotli's reader, in bytes.
const BUFFER: usize = 4_096;

static DECODED: LazyLock<ReflectionService> = LazyLock::new(|| {
    let mut set = Vec::new();
    brotli::Decompressor::new(rpc::COMMENTED_DESCRIPTORS, BUFFER)
        .read_to_end(&mut set)
        .expect("codegen compressed the description");
    let reflector =
        Reflector::from_descriptor_set_bytes(&set).expect("codegen wrote a whole description");
    ReflectionService::new(reflector)
});

/// Service for both versions of the protocol.
struct Reflection;

/// Adds reflection to the routes.
pub(super) fn install(routes: Routes) -> Routes {
    let routes = ServerReflectionExt::register(Arc::new(Reflection), routes);
    let routes = ServerReflectionV1alphaExt::register(Arc::new(Reflection), routes);
    let methods = [
        v1::SERVER_REFLECTION_SERVER_REFLECTION_INFO_SPEC.procedure,
        v1alpha::SERVER_REFLECTION_SERVER_REFLECTION_INFO_SPEC.procedure,
    ];
    rpc::with_small_requests(routes, &methods)
}

impl ServerReflection for Reflection {
    async fn server_reflection_info(
        &self,
        context: RequestContext,
        requests: InboundStream<v1::ServerReflectionRequest>,
    ) -> ServiceResult<ServiceStream<v1::ServerReflectionResponse>> {
        ServerReflection::server_reflection_info(&*DECODED, context, requests).await
    }
}

impl ServerReflectionV1alpha for Reflection {
    async fn server_reflection_info(
        &self,
        context: RequestContext,
        requests: InboundStream<v1alpha::ServerReflectionRequest>,
    ) -> ServiceResult<ServiceStream<v1alpha::ServerReflectionResponse>> {
        ServerReflectionV1alpha::server_reflection_info(&*DECODED, context, requests).await
    }
}
