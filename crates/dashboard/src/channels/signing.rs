//! Signing secrets of the workspace's webhooks. A new secret is shown once.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use contract::notification::wire::{
    ListSigningSecretsRequest, RotateSigningSecretRequest, SigningSecret,
};
use http::{HeaderMap, StatusCode};
use rules::Timestamp;
use serde::Deserialize;

use super::deliveries::instant;
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

/// Hours in which the previous secrets also sign, unless the person enters others.
const OVERLAP_HOURS: &str = "24";

#[derive(Template)]
#[template(path = "signing.html")]
struct SigningPage {
    frame: Frame,
    secrets: Vec<SecretRow>,
    /// The new secret, right after the rotation.
    new_secret: Option<String>,
    overlap_hours: String,
    error: Option<String>,
}

/// A secret without its value.
struct SecretRow {
    id: String,
    created_at: Timestamp,
    /// End of its overlap with newer ones.
    expires_at: Option<Timestamp>,
}

/// The form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Rotation {
    overlap_hours: String,
}

/// Lists the secrets.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let secrets = list(&state, &member).await?;
    let page = page(&member, secrets, OVERLAP_HOURS, &request);
    Ok(html::page(&page, &request))
}

/// Creates a new secret and shows it. It is part of this response only, so this is not a redirect.
pub(crate) async fn rotate(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(given): Posted<Rotation>,
) -> Result<Response, ScreenError> {
    let Ok(hours) = given.overlap_hours.trim().parse() else {
        let error = "Must be a number of hours.".to_owned();
        return refused(&state, &member, (&given.overlap_hours, error), &request).await;
    };
    let asked = RotateSigningSecretRequest { overlap_hours: Some(hours) };
    match state.send(member.caller(), asked).await {
        Ok(rotated) => {
            let secrets = rotated.signing_secrets.iter().map(SecretRow::new).collect();
            let page = SigningPage {
                new_secret: Some(rotated.secret),
                ..page(&member, secrets, OVERLAP_HOURS, &request)
            };
            Ok(html::page(&page, &request))
        }
        Err(error) => {
            let violations = contract::rpc::field_violations(&error);
            let Some(violation) = violations.first() else { return Err(error.into()) };
            let text = sentence(&violation.description);
            refused(&state, &member, (&given.overlap_hours, text), &request).await
        }
    }
}

impl SecretRow {
    fn new(secret: &SigningSecret) -> Self {
        Self {
            id: secret.id.clone(),
            created_at: instant(secret.created_at.as_option()),
            expires_at: secret.expires_at.as_option().map(|at| instant(Some(at))),
        }
    }
}

async fn list(state: &Dashboard, member: &Member) -> Result<Vec<SecretRow>, ScreenError> {
    let found = state.send(member.caller(), ListSigningSecretsRequest {}).await?;
    Ok(found.signing_secrets.iter().map(SecretRow::new).collect())
}

async fn refused(
    state: &Dashboard,
    member: &Member,
    (given, error): (&str, String),
    request: &HeaderMap,
) -> Result<Response, ScreenError> {
    let secrets = list(state, member).await?;
    let page = SigningPage { error: Some(error), ..page(member, secrets, given, request) };
    Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, request))
}

fn page(
    member: &Member,
    secrets: Vec<SecretRow>,
    overlap_hours: &str,
    request: &HeaderMap,
) -> SigningPage {
    SigningPage {
        frame: Frame::of_member(member, Section::Channels, "Signing secret", request),
        secrets,
        new_secret: None,
        overlap_hours: overlap_hours.to_owned(),
        error: None,
    }
}
