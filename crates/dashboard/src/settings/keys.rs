//! API keys: list, issue and revoke. A new key is shown once, with lines to paste.

use askama::Template;
use axum::Extension;
use axum::extract::{Form, Path, State};
use axum::response::Response;
use contract::api_key::wire::{ApiKey, ListApiKeysRequest, RevokeApiKeyRequest};
use http::{HeaderMap, StatusCode};
use rules::{Role, Scope, Secret, Validator, tables};
use serde::Deserialize;

use super::Tab;
use super::workspace::{Entered, is_about_input};
use crate::backend::NewKey;
use crate::error::ScreenError;
use crate::form::{Messages, message};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

/// Lifetimes to choose, in days, with their labels. 0 means without an end.
const LIFETIMES: [(u32, &str); 5] =
    [(0, "Never"), (7, "In 7 days"), (30, "In 30 days"), (90, "In 90 days"), (365, "In a year")];
/// Keys on a page.
const LIMIT: i32 = 100;

#[derive(Template)]
#[template(path = "settings/keys.html")]
struct KeysPage {
    frame: Frame,
    tab: Tab,
    keys: Vec<KeyRow>,
    name: Entered,
    scopes: &'static [Scope],
    lifetimes: &'static [(u32, &'static str)],
    may_edit: bool,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "settings/new_key.html")]
struct NewKeyPage {
    frame: Frame,
    tab: Tab,
    key: Secret<String>,
    is_write: bool,
    origin: String,
}

/// A key as the list shows it.
struct KeyRow {
    key: ApiKey,
    created_at: Option<String>,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    is_revoked: bool,
}

/// Page of the list.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Listing {
    page: Option<String>,
}

/// The form of a new key.
#[derive(Debug, Deserialize)]
pub(crate) struct KeyForm {
    name: String,
    scope: String,
    days: u32,
}

/// Lists the keys.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    axum::extract::Query(listing): axum::extract::Query<Listing>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = page(&state, &member, (listing, Entered::default()), &request).await?;
    Ok(html::page(&page, &request))
}

/// Issues a key and shows it once.
pub(crate) async fn issue(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Form(given): Form<KeyForm>,
) -> Result<Response, ScreenError> {
    let mut validator = Validator::new(&tables::KEY);
    let name = validator.text("name", Some(given.name.trim().to_owned()));
    let scope: Option<Scope> = validator.word("scope", Some(given.scope.clone()));
    let refused = match validator.finish(name.zip(scope)) {
        Ok((name, scope)) => {
            let new = NewKey { name, scope, days: (given.days > 0).then_some(given.days) };
            match state.backend.issue_key(member.caller(), new).await {
                Ok(key) => {
                    let page = NewKeyPage {
                        frame: Frame::of_member(
                            &member,
                            Section::Settings,
                            "New API key",
                            &request,
                        ),
                        tab: Tab::Keys,
                        key,
                        is_write: scope.may_write(),
                        origin: state.origin.to_string(),
                    };
                    return Ok(html::page(&page, &request));
                }
                Err(error) if is_about_input(error.code) => {
                    Messages::from_error(&error, "key").whole().map(str::to_owned)
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(violations) => message(&violations, "name").or_else(|| message(&violations, "scope")),
    };
    let entered = Entered { value: given.name, error: refused };
    let page = page(&state, &member, (Listing::default(), entered), &request).await?;
    Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
}

/// Revokes a key. It stops working at once.
pub(crate) async fn revoke(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, key)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let revoke = RevokeApiKeyRequest { id: key };
    state.send(member.caller(), revoke).await?;
    Ok(redirect_with_notice(&member.path(Tab::Keys.path()), "The key was revoked."))
}

async fn page(
    state: &Dashboard,
    member: &Member,
    (listing, name): (Listing, Entered),
    request: &HeaderMap,
) -> Result<KeysPage, ScreenError> {
    let list = ListApiKeysRequest {
        limit: Some(LIMIT),
        page_token: listing.page,
        ..ListApiKeysRequest::default()
    };
    let found = state.send(member.caller(), list).await?;
    let next = Some(found.next_page_token).filter(|token| !token.is_empty());
    Ok(KeysPage {
        frame: Frame::of_member(member, Section::Settings, "API keys", request),
        tab: Tab::Keys,
        keys: found.api_keys.into_iter().map(row).collect(),
        name,
        scopes: Scope::ALL,
        lifetimes: &LIFETIMES,
        may_edit: member.membership.role.includes(Role::Admin),
        next,
    })
}

fn row(key: ApiKey) -> KeyRow {
    KeyRow {
        created_at: time::wire_time(key.created_at.as_option()),
        expires_at: time::wire_time(key.expires_at.as_option()),
        last_used_at: time::wire_time(key.last_used_at.as_option()),
        is_revoked: key.revoked_at.is_set(),
        key,
    }
}
