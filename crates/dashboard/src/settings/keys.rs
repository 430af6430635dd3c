//! API keys: list, issue and revoke. A new key is shown once, with lines to paste.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::api_key::wire::{ApiKey, ListApiKeysRequest, RevokeApiKeyRequest};
use http::{HeaderMap, StatusCode};
use rules::{Role, Scope, Secret, Validator, tables};
use serde::Deserialize;

use super::Tab;
use crate::backend::NewKey;
use crate::error::{ScreenError, is_about_input};
use crate::extract::{Asked, Posted};
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
    given: KeyForm,
    errors: KeyErrors,
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
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KeyForm {
    name: String,
    scope: String,
    days: String,
}

/// Messages beside the fields.
#[derive(Debug, Default)]
struct KeyErrors {
    name: Option<String>,
    scope: Option<String>,
    days: Option<String>,
}

/// Lists the keys.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(listing): Asked<Listing>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page =
        page(&state, &member, listing, (KeyForm::new(), KeyErrors::default()), &request).await?;
    Ok(html::page(&page, &request))
}

/// Issues a key and shows it once.
pub(crate) async fn issue(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(given): Posted<KeyForm>,
) -> Result<Response, ScreenError> {
    let errors = match given.validate() {
        Ok(new) => {
            let may_write = new.scope.may_write();
            match state.backend.issue_key(member.caller(), new).await {
                Ok(key) => return Ok(shown_once(&state, &member, (key, may_write), &request)),
                Err(error) if is_about_input(error.code) => {
                    let whole = Messages::from_error(&error, "key").whole().map(str::to_owned);
                    KeyErrors { name: whole, ..KeyErrors::default() }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(errors) => errors,
    };
    let page = page(&state, &member, Listing::default(), (given, errors), &request).await?;
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

impl KeyForm {
    /// Returns the values of a new form.
    fn new() -> Self {
        Self { name: String::new(), scope: Scope::Write.to_string(), days: "0".to_owned() }
    }

    fn validate(&self) -> Result<NewKey, KeyErrors> {
        let mut validator = Validator::new(&tables::KEY);
        let name = validator.text("name", Some(self.name.trim().to_owned()));
        let scope: Option<Scope> = validator.word("scope", Some(self.scope.clone()));
        let valid = validator.finish(name.zip(scope));
        let is_offered = |days: &u32| LIFETIMES.iter().any(|(offered, _)| offered == days);
        let days: Option<u32> = self.days.parse().ok().filter(is_offered);
        match (valid, days) {
            (Ok((name, scope)), Some(days)) => {
                Ok(NewKey { name, scope, days: (days > 0).then_some(days) })
            }
            (valid, days) => {
                let violations = valid.err().unwrap_or_default();
                Err(KeyErrors {
                    name: message(&violations, "name"),
                    scope: message(&violations, "scope"),
                    days: days.is_none().then(|| "Choose when the key expires.".to_owned()),
                })
            }
        }
    }
}

/// Returns the only page that has the new key.
fn shown_once(
    state: &Dashboard,
    member: &Member,
    (key, is_write): (Secret<String>, bool),
    request: &HeaderMap,
) -> Response {
    let page = NewKeyPage {
        frame: Frame::of_member(member, Section::Settings, "New API key", request),
        tab: Tab::Keys,
        key,
        is_write,
        origin: state.origin.to_string(),
    };
    html::page(&page, request)
}

async fn page(
    state: &Dashboard,
    member: &Member,
    listing: Listing,
    (given, errors): (KeyForm, KeyErrors),
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
        given,
        errors,
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
