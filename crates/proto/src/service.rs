//! Traits of services, and their registration in the routes of the RPC library. Requests and
//! responses are owned messages.

use std::sync::Arc;

use buffa::Message;
use connectrpc::{
    Encodable, IdempotencyLevel, RequestContext, Router, ServiceResult, ServiceStream, Spec,
    handler_fn, streaming_handler_fn,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Request of a method with one response.
pub trait MethodRequest: Message + Serialize + DeserializeOwned + Send + 'static {
    /// Response of the method.
    type Response: Message + Serialize + DeserializeOwned + Send + 'static;
    /// Path below the base URL, such as `/monitor.v1.MonitorService/GetMonitor`.
    const PATH: &'static str;
}

/// Declares the trait of a service. Each line is a method: its kind, its idempotency, its name in
/// Rust and in the proto, its request and its response.
macro_rules! service {
    ($service:ident = $path:literal {
        $($kind:ident $level:ident $function:ident = $method:literal ($request:ident) -> $response:ty;)*
    }) => {
        #[doc = concat!("`", $path, "`.")]
        pub trait $service: Sized + Send + Sync + 'static {
            $(
                #[doc = concat!("`", $method, "`.")]
                fn $function(
                    &self,
                    context: ::connectrpc::RequestContext,
                    request: $request,
                ) -> impl Future<Output = ::connectrpc::ServiceResult<$response>> + Send;
            )*

            /// Adds the methods to `routes`.
            fn register(
                self: ::std::sync::Arc<Self>,
                routes: ::connectrpc::Router,
            ) -> ::connectrpc::Router {
                $(
                    let spec = $crate::service::specification!($kind $level $path $method);
                    let routes = $crate::service::$kind(routes, spec, &self, |it, context, request| {
                        async move { it.$function(context, request).await }
                    });
                )*
                routes
            }
        }
        $($crate::service::request!($kind $path $method $request $response);)*
    };
}

/// Describes a method for the RPC library.
macro_rules! specification {
    (unary $level:ident $path:literal $method:literal) => {
        $crate::service::specification!(Unary, $level, $path, $method)
    };
    (server_stream $level:ident $path:literal $method:literal) => {
        $crate::service::specification!(ServerStream, $level, $path, $method)
    };
    ($kind:ident, $level:ident, $path:literal, $method:literal) => {
        ::connectrpc::Spec::server(
            concat!("/", $path, "/", $method),
            ::connectrpc::StreamType::$kind,
        )
        .with_idempotency_level(::connectrpc::IdempotencyLevel::$level)
    };
}

/// Implements [`MethodRequest`] for the request of a unary method.
macro_rules! request {
    (unary $path:literal $method:literal $request:ident $response:ty) => {
        impl $crate::MethodRequest for $request {
            type Response = $response;
            const PATH: &'static str = concat!("/", $path, "/", $method);
        }
    };
    (server_stream $path:literal $method:literal $request:ident $response:ty) => {};
}

pub(crate) use {request, service, specification};

/// Adds a method with one response. A method without side effects also answers GET.
pub(crate) fn unary<S, Q, A, F>(
    routes: Router,
    spec: Spec,
    service: &Arc<S>,
    call: fn(Arc<S>, RequestContext, Q) -> F,
) -> Router
where
    S: Send + Sync + 'static,
    Q: Message + DeserializeOwned + Send + 'static,
    A: Message + Serialize + Encodable<A> + Send + 'static,
    F: Future<Output = ServiceResult<A>> + Send + 'static,
{
    let service = Arc::clone(service);
    let handler = handler_fn(move |context, request| call(Arc::clone(&service), context, request));
    let routes = if spec.idempotency_level == IdempotencyLevel::NoSideEffects {
        routes.route_idempotent(spec.service(), spec.method(), handler)
    } else {
        routes.route(spec.service(), spec.method(), handler)
    };
    routes.with_spec(spec)
}

/// Adds a method with a stream of responses.
pub(crate) fn server_stream<S, Q, A, F>(
    routes: Router,
    spec: Spec,
    service: &Arc<S>,
    call: fn(Arc<S>, RequestContext, Q) -> F,
) -> Router
where
    S: Send + Sync + 'static,
    Q: Message + DeserializeOwned + Send + 'static,
    A: Message + Serialize + Encodable<A> + Send + 'static,
    F: Future<Output = ServiceResult<ServiceStream<A>>> + Send + 'static,
{
    let service = Arc::clone(service);
    let handler =
        streaming_handler_fn(move |context, request| call(Arc::clone(&service), context, request));
    routes.route_server_stream(spec.service(), spec.method(), handler).with_spec(spec)
}
