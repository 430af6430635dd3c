//! The public contract: `proto/` in Rust. Contains a thin module around the RPC library, and the
//! conversions between wire and `rules`, one file per service. `proto` has the generated messages
//! and services. The server implements the methods; `rules` validates fields.
//!
//! # Serving it
//!
//! `tests/it/` contains a complete service of a hundred lines. In short:
//!
//! ```text
//! impl MonitorService for Monitors {                       // contract::monitor::wire
//!     async fn get_monitor(&self, context: RequestContext, request: GetMonitorRequest)
//!         -> ServiceResult<GetMonitorResponse>
//!     {
//!         let caller = context.extensions().get::<Caller>();  // what a layer put into the request
//!         Err(rpc::not_found("monitor", &request.id))         // or Response::ok(answer)
//!     }
//! }
//! let routes = Arc::new(Monitors).register(rpc::Routes::new());
//! let reflector = connectrpc_reflection::Reflector::from_descriptor_set_bytes(rpc::DESCRIPTORS)?;
//! let service = rpc::serve(connectrpc_reflection::install(routes, reflector));
//! // /rpc for every client, the root for stock gRPC ones, which do not support a prefix.
//! // The layer that authenticates is around both, so that no stream bypasses it.
//! axum::Router::new().nest_service("/rpc", service.clone()).fallback_service(service)
//! ```
//!
//! - **Protocols.** One service answers Connect (JSON, protobuf), gRPC and gRPC-Web, selected by
//!   `content-type`. gRPC needs HTTP/2, with or without TLS. `context.path()` is the method's path
//!   without the prefix; [`rpc::method`] finds its description.
//! - **Rejecting before the RPC** (authentication, limits): `rpc::unauthenticated(…)` and similar
//!   functions create an [`rpc::Error`]; `error.into_http_response(request.headers())` converts it to
//!   the caller's protocol.
//! - **Connect GET** works for methods without side effects:
//!   `GET …/GetMonitor?connect=v1&encoding=json&message=%7B%22id%22%3A%22mon_1%22%7D`
//!   (`base64=1` for a message in base64url). On other methods GET is 405.
//! - **Sizes.** [`rpc::serve`] rejects bodies and messages above
//!   [`rules::limits::MESSAGE_BYTES_MAX`] with `resource_exhausted`, before and after decompression.
//! - **Errors without a reason** come from the library before the interceptors run. A layer around
//!   the service reads them with [`rpc::library_error`] and replaces them.
//! - **Malformed input.** A body that is not JSON or protobuf is `invalid_argument` (400). So are
//!   an unknown JSON field and a value of a wrong type, with its path. An unknown content type is
//!   415, an unknown method `unimplemented` (404).
//! - **JSON responses** contain every field without presence: lists, `totalSize`, texts. Fields
//!   with presence (`optional`) are included if they are set, so [`monitor`] sets them.
//! - **A panic** in a handler is not caught: catch it in a layer around the service.
//!
//! # Modules, in reading order
//!
//! - `rpc` is the only module of this crate that uses the RPC library.
//! - `draft` has [`IntoDraft`], which converts a message to a draft of `rules`. `fields` converts fields
//!   by their types and tables, and hides what read keys may not see.
//! - A module per service: `monitor`, `incident`, `notification`, `status_page`, `status_report`,
//!   `maintenance`, `region`, `probe`, `workspace`, `member`, `api_key`, `audit`,
//!   `configuration`, `health`.
//! - `hcl` quotes texts for configurations of Terraform.
//! - `fuzz` has the properties that fuzz targets and their replays share.

pub mod api_key;
pub mod audit;
pub mod configuration;
mod draft;
mod fields;
#[cfg(any(test, aloft_fuzz))]
pub mod fuzz;
pub mod hcl;
pub mod health;
pub mod incident;
pub mod maintenance;
pub mod member;
pub mod monitor;
pub mod notification;
pub mod probe;
pub mod region;
pub mod rpc;
pub mod status_page;
pub mod status_report;
pub mod workspace;

pub use draft::IntoDraft;
pub use fields::{SecretVisibility, encode_address, encode_endpoint, encode_text, encode_url};
