//! The calls of one request: the server puts a [`RequestBackend`] into the extensions of each request that
//! it has authenticated.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use contract::rpc::Error;
use rules::Scope;

/// Future that a method of [`Backend`] returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Calls methods of the contract as the caller of one request. The services validate, limit and audit the
/// calls as all others, and omit secrets from results.
pub trait Backend: Debug + Send + Sync {
    /// Returns the scope of the caller's key.
    fn scope(&self) -> Scope;

    /// Calls a method with JSON, and returns the JSON of its response.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Bytes, Error>>;
}

/// Backend in the extensions of a request.
#[derive(Clone, Debug)]
pub struct RequestBackend(pub Arc<dyn Backend>);

/// Call of a method.
#[derive(Clone, Debug)]
pub struct Call {
    /// Path of the method, such as `/monitor.v1.MonitorService/GetMonitor`.
    pub method: &'static str,
    /// JSON of the request.
    pub request: Bytes,
    /// Key that makes a retry return the first result.
    pub idempotency_key: Option<String>,
}
