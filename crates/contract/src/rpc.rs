//! The only module of this crate that depends on the RPC library. Other code uses what is exported
//! here, so that the library can be replaced. Methods and paths come from the description that
//! `cargo xtask codegen` writes next to the generated code, in `proto`.

mod base_url;
mod call;
mod client;
mod device_login;
mod error;
mod http_status;
mod json;
mod library_error;
mod methods;
mod network;
mod strict;
mod unusable_client;
mod whoami;

use buffa::SizeCache;
use rules::limits;

pub use buffa::Message;
pub use connectrpc::{
    ConnectRpcService as Service, InboundStream, RequestContext, Response, Router as Routes,
    ServiceResult, ServiceStream,
};
pub use proto::{COMMENTED_DESCRIPTORS, DESCRIPTORS, MethodRequest};

pub use self::call::{Call, decode_error};
pub use self::client::{CALL_TIMEOUT, Client, RESPONSE_BYTES_MAX, is_sendable_key, is_unsent};
pub use self::device_login::{DeviceLogin, DeviceLoginClient, DeviceProgress};
pub use self::error::{
    Code, Error, FieldViolation, Reason, already_exists, conflict, deferred, failed_precondition,
    field_violations, internal, invalid, invalid_because, malformed, not_found, payload_too_large,
    permission_denied, reason, request_timeout, resource_exhausted, right_required, stale, taken,
    unauthenticated, unavailable, unknown_method, with_request_id,
};
pub use self::json::check_json;
pub use self::library_error::{RawResponse, library_error};
pub use self::methods::{Method, field_names, method, methods, redacted_fields, service_names};
pub use self::network::{Network, ProxyFailure, Transport, is_self_signed, proxy_failure};
pub use self::strict::Strict;
pub use self::unusable_client::UnusableClient;
pub use self::whoami::{Actor, Whoami};

/// Header with the API key (spec §5.2).
pub const KEY_HEADER: &str = "x-service-key";

/// Header that makes a retried create return the first result. It is random per call and the same
/// for its retries.
pub const IDEMPOTENCY_KEY_HEADER: &str = "idempotency-key";

/// Bytes before each message of a stream.
const ENVELOPE_BYTES: usize = connectrpc::envelope::HEADER_SIZE;

/// Default base URL of clients: a server on this machine. To be replaced by the public address of a
/// hosted service.
pub const DEFAULT_BASE_URL: &str = "http://127.0.0.1:8080/rpc";

/// Returns the size of a message in protobuf, in bytes.
pub fn encoded_bytes(message: &impl Message) -> usize {
    message.compute_size(&mut SizeCache::new()) as usize
}

/// Creates the service that answers `routes` over every protocol, with the contract's limits and
/// strict validation.
pub fn serve(routes: Routes) -> Service {
    limited(routes).with_interceptor(Strict)
}

/// Like [`serve`], with the interceptor `around` outside of the strict validation. It sees the
/// calls that the validation rejects.
pub fn serve_with(routes: Routes, around: impl connectrpc::Interceptor) -> Service {
    limited(routes).with_interceptor(around).with_interceptor(Strict)
}

/// Limits requests of these methods, such as `/grpc.health.v1.Health/Check`, to a few kilobytes.
pub fn with_small_requests(routes: Routes, methods: &[&str]) -> Routes {
    let limits = connectrpc::Limits::default()
        .with_max_request_body_size(limits::MESSAGE_WITHOUT_KEY_BYTES_MAX + ENVELOPE_BYTES)
        .with_max_message_size(limits::MESSAGE_WITHOUT_KEY_BYTES_MAX);
    methods.iter().fold(routes, |routes, method| routes.with_route_limits(method, limits))
}

fn limited(routes: Routes) -> Service {
    let sizes = connectrpc::Limits::default()
        .with_max_request_body_size(limits::MESSAGE_BYTES_MAX)
        .with_max_message_size(limits::MESSAGE_BYTES_MAX);
    Service::new(routes).with_limits(sizes)
}
