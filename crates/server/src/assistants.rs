//! `/mcp`: assistants with a key. The crate `mcp` has the protocol and the tools; here, their calls pass to
//! the services of the contract as calls of the key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::{Router, body};
use bytes::Bytes;
use contract::rpc::{self, Error};
use http::header::CONTENT_TYPE;
use http::{Extensions, StatusCode};
use mcp::{Backend, BoxFuture, Call, RequestBackend};
use rules::{KeyId, Scope};
use store::Workspace;
use tower::ServiceExt as _;

use crate::auth::Caller;
use crate::edge::RequestId;
use crate::gate::AuthLayer;

/// Maximum size of a response in bytes: above that of the largest list.
const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// State of the endpoint.
#[derive(Clone, Debug)]
pub(crate) struct AssistantState {
    /// Services of the contract behind authentication.
    pub(crate) methods: Router,
    pub(crate) public_url: Option<String>,
}

/// Calls of one request with a key.
#[derive(Debug)]
struct KeyBackend {
    methods: Router,
    caller: Caller,
    key: Option<KeyId>,
    workspace: Option<Arc<Workspace>>,
    request: Option<RequestId>,
}

/// Returns the route, behind authentication.
pub(crate) fn routes(state: AssistantState, layer: AuthLayer) -> Router {
    mcp::routes(state.public_url.as_deref())
        .layer(from_fn_with_state(state.methods, bring_backend))
        .layer(from_fn_with_state(layer, AuthLayer::before_routes))
}

/// Returns all paths.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    std::iter::once(mcp::PATH)
}

/// Gives an authenticated request its backend.
async fn bring_backend(
    State(methods): State<Router>,
    mut request: Request,
    next: Next,
) -> Response {
    let backend = KeyBackend::from_extensions(methods, request.extensions());
    request.extensions_mut().insert(RequestBackend(Arc::new(backend)));
    next.run(request).await
}

impl KeyBackend {
    fn from_extensions(methods: Router, extensions: &Extensions) -> Self {
        let caller = *extensions.get::<Caller>().expect("authentication runs before every call");
        Self {
            methods,
            caller: caller.redacted(),
            key: extensions.get().copied(),
            workspace: extensions.get().cloned(),
            request: extensions.get().cloned(),
        }
    }

    /// Returns the request of a call, with the extensions that authentication would add.
    fn request(&self, call: Call) -> Result<Request, Error> {
        let mut request = Request::post(call.method).header(CONTENT_TYPE, "application/json");
        if let Some(key) = call.idempotency_key {
            request = request.header(rpc::IDEMPOTENCY_KEY_HEADER, key);
        }
        let request = request.body(Body::from(call.request));
        // Only the idempotency key may hold what no header can.
        let mut request = request
            .map_err(|_| rpc::malformed("`idempotencyKey` must be ASCII without line breaks"))?;
        let extensions = request.extensions_mut();
        extensions.insert(self.caller);
        self.key.map(|key| extensions.insert(key));
        self.workspace.clone().map(|workspace| extensions.insert(workspace));
        self.request.clone().map(|id| extensions.insert(id));
        Ok(request)
    }
}

impl Backend for KeyBackend {
    fn scope(&self) -> Scope {
        self.caller.scope
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Bytes, Error>> {
        Box::pin(async move {
            let request = self.request(call)?;
            let Ok(response) = self.methods.clone().oneshot(request).await;
            let status = response.status();
            let body = body::to_bytes(response.into_body(), RESPONSE_BYTES_MAX).await;
            let body = body.map_err(|_| rpc::internal())?;
            if status == StatusCode::OK { Ok(body) } else { Err(rpc::decode_error(status, &body)) }
        })
    }
}
