//! `DELETE /v1/api-key/{id}` (spec §4.2): revokes a key of the caller's workspace.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use contract::rpc;
use http::StatusCode;
use rules::KeyId;
use store::Revoked;

use super::V1State;
use crate::auth::Caller;
use crate::edge::Problem;
use crate::rpc::rpc_error;

/// Returns 204. Revoking a revoked key has no effect.
pub(super) async fn revoke(
    State(keys): State<V1State>,
    Extension(caller): Extension<Caller>,
    Extension(presented): Extension<KeyId>,
    id: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    // A path that is not UTF-8 matches no key.
    let id = id.map_or_else(|_| "\u{FFFD}".to_owned(), |Path(id)| id);
    let own = presented.to_string();
    // A read key may revoke only itself (spec §5.7). Check this before any lookup, so that it
    // learns nothing about other keys. The gate cannot decide it, because it depends on the path.
    if !caller.scope.may_write() && id != own {
        return Err(Problem::from(rpc::permission_denied(
            "this key is read-only and may revoke only itself",
        )));
    }
    let not_found = || Problem::from(rpc::not_found("key", &id));
    let key = KeyId::parse(&id).map_err(|_| not_found())?;
    let change = caller.change(keys.ctx.now());
    let revoked = keys.store.keys().revoke(caller.workspace, key, change).await;
    if revoked.map_err(rpc_error)? == Revoked::Now {
        keys.auth.evict(key);
    }
    Ok(StatusCode::NO_CONTENT)
}
