//! `GET /v1/whoami` (spec §4.1): the identity and scopes of the presented key, so that clients need
//! not probe.

use std::sync::Arc;

use axum::{Extension, Json};
use rules::{KeyId, Scope};
use serde::Serialize;
use store::Workspace;

use crate::auth::Caller;

/// Response, with the field names of the specification.
#[derive(Debug, Serialize)]
pub(super) struct Identity {
    name: String,
    slug: String,
    plan: String,
    actor: Actor,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Actor {
    r#type: &'static str,
    key_id: KeyId,
    scopes: [Scope; 1],
}

/// Returns the identity that the gate determined, without further lookups.
pub(super) async fn whoami(
    Extension(caller): Extension<Caller>,
    Extension(key_id): Extension<KeyId>,
    Extension(workspace): Extension<Arc<Workspace>>,
) -> Json<Identity> {
    Json(Identity {
        name: workspace.name.clone(),
        slug: workspace.slug.clone(),
        plan: workspace.plan.clone(),
        actor: Actor { r#type: "apiKey", key_id, scopes: [caller.scope] },
    })
}
