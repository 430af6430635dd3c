//! `GET /v1/whoami` (spec §4.1): who the presented key is, so that a client reads its scopes
//! without probing.

use std::sync::Arc;

use axum::{Extension, Json};
use rules::{KeyId, Scope};
use serde::Serialize;
use store::Workspace;

use crate::auth::Caller;

/// The answer, in the specification's names.
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

/// Answers from what the gate found out; asks nobody.
pub(super) async fn whoami(
    Extension(caller): Extension<Caller>,
    Extension(workspace): Extension<Arc<Workspace>>,
) -> Json<Identity> {
    Json(Identity {
        name: workspace.name.clone(),
        slug: workspace.slug.clone(),
        plan: workspace.plan.clone(),
        actor: Actor { r#type: "apiKey", key_id: caller.key, scopes: [caller.scope] },
    })
}
