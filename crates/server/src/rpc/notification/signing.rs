//! Signing secrets of a workspace's webhooks: lists and rotates them.

use std::time::Duration;

use contract::monitor::encode_instant;
use contract::notification::wire::{
    ListSigningSecretsRequest, ListSigningSecretsResponse, RotateSigningSecretRequest,
    RotateSigningSecretResponse, SigningSecret as WireSecret,
};
use contract::rpc::{self, Error, RequestContext};
use domain::notify::signing_secret_text;
use rules::{Validator, Violations, tables};
use store::SigningSecret;

use crate::rpc::request::{caller, change};
use crate::rpc::{Services, rpc_error};

/// Implements `ListSigningSecrets`.
pub(super) async fn list(
    services: &Services,
    context: &RequestContext,
    _request: ListSigningSecretsRequest,
) -> Result<ListSigningSecretsResponse, Error> {
    let workspace = caller(context).workspace;
    let signing = services.store.signing_secrets().list(workspace, services.ctx.now()).await;
    let signing_secrets = signing.map_err(rpc_error)?.iter().map(encode).collect();
    Ok(ListSigningSecretsResponse { signing_secrets })
}

/// Implements `RotateSigningSecret`.
pub(super) async fn rotate(
    services: &Services,
    context: &RequestContext,
    request: RotateSigningSecretRequest,
) -> Result<RotateSigningSecretResponse, Error> {
    let caller = caller(context);
    let overlap = overlap(request.overlap_hours).map_err(|wrong| rpc::invalid(&wrong))?;
    let (workspace, new) = (caller.workspace, services.ctx.new_id());
    let secrets = services.store.signing_secrets();
    let rotated = secrets.rotate(workspace, new, overlap, change(services, caller)).await;
    let rotated = rotated.map_err(rpc_error)?;
    Ok(RotateSigningSecretResponse {
        secret: signing_secret_text(&rotated.secret).expose().clone(),
        signing_secrets: rotated.signing.iter().map(encode).collect(),
    })
}

fn overlap(hours: Option<i32>) -> Result<Duration, Violations> {
    let mut validator = Validator::new(&tables::SIGNING_SECRET);
    let hours = validator.integer("overlap_hours", hours);
    let hours = validator.finish(hours)?;
    Ok(Duration::from_hours(u64::try_from(hours).expect("the table has no negative hours")))
}

fn encode(secret: &SigningSecret) -> WireSecret {
    WireSecret {
        id: secret.id.to_string(),
        created_at: encode_instant(secret.created_at),
        expires_at: secret.expires_at.map(encode_instant).unwrap_or_default(),
    }
}
