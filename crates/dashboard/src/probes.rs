//! Probes in other places: list, create, rotate tokens and delete. Every workspace has its private
//! regions here. The other regions have the probes of the server's operator, because these check for all
//! workspaces. A token is shown once.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use contract::monitor::decode_instant;
use contract::probe::wire::{
    CreateProbeRequest, DeleteProbeRequest, ListProbesRequest, Probe, RotateProbeTokenRequest,
};
use contract::region::wire::ListRegionsRequest;
use contract::rpc::Code;
use http::{HeaderMap, StatusCode};
use rules::{Region, Role, Timestamp, is_local_url, limits};

use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{Messages, PostedFields};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::region_groups::{self, RegionGroup};
use crate::route::{ADMIN, Route};
use crate::session::Member;
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/probes", ADMIN, || get(show)),
    Route::post("/w/{workspace}/probes", ADMIN, || post(create)),
    Route::post("/w/{workspace}/probes/{probe}/rotate", ADMIN, || post(rotate)),
    Route::post("/w/{workspace}/probes/{probe}/delete", ADMIN, || post(delete)),
];

#[derive(Template)]
#[template(path = "probes.html")]
struct ProbesPage {
    frame: Frame,
    probes: Vec<ProbeRow>,
    /// Whether the workspace manages the probes of all workspaces, too.
    is_operator: bool,
    form: NewProbeForm,
}

#[derive(Template)]
#[template(path = "new_token.html")]
struct NewTokenPage {
    frame: Frame,
    name: String,
    regions: String,
    command: String,
    /// Whether other machines cannot reach the address in the command.
    is_local: bool,
    /// Hours that the previous token stays valid. `None` for a new probe.
    overlap_hours: Option<u64>,
}

/// A probe, ready to be shown.
struct ProbeRow {
    id: String,
    name: String,
    regions: String,
    is_connected: bool,
    last_seen_at: Option<Timestamp>,
    version: String,
    address: String,
    previous_token_ends_at: Option<Timestamp>,
}

/// The form of a new probe: what the person entered, and messages.
#[derive(Default)]
struct NewProbeForm {
    name: String,
    /// Regions that no probe serves.
    groups: Vec<RegionGroup>,
    name_error: Option<String>,
    regions_error: Option<String>,
}

/// Lists the probes.
async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = page(&state, &member, (NewProbeForm::default(), &[]), &request).await?;
    Ok(html::page(&page, &request))
}

/// Creates a probe and shows its command once.
async fn create(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let all = |wanted: &str| {
        let found = posted.iter().filter(|(name, _)| name == wanted);
        found.map(|(_, value)| value.trim().to_owned()).collect::<Vec<_>>()
    };
    let name = all("name").into_iter().next().unwrap_or_default();
    let regions = all("regions");
    let new = CreateProbeRequest {
        name: Some(name.clone()).filter(|name| !name.is_empty()),
        regions: regions.clone(),
    };
    match state.send(member.caller(), new).await {
        Ok(created) => {
            let token = (created.probe.into_option().unwrap_or_default(), created.command);
            Ok(token_page((&state, &member), token, None, &request))
        }
        Err(error) if matches!(error.code, Code::InvalidArgument | Code::AlreadyExists) => {
            let messages = Messages::from_error(&error, "");
            let regions_error = messages.below("regions");
            let whole = messages.whole().map(str::to_owned).filter(|_| regions_error.is_none());
            let name_error = messages.get("name").or(whole);
            let form = NewProbeForm { name, name_error, regions_error, ..NewProbeForm::default() };
            let page = page(&state, &member, (form, &regions), &request).await?;
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives a probe a new token and shows its command once.
async fn rotate(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let rotated = state.send(member.caller(), RotateProbeTokenRequest { id }).await?;
    let token = (rotated.probe.into_option().unwrap_or_default(), rotated.command);
    let hours = limits::PROBE_TOKEN_OVERLAP.as_secs() / 3_600;
    Ok(token_page((&state, &member), token, Some(hours), &request))
}

/// Deletes a probe. Its token ends at once.
async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), DeleteProbeRequest { id }).await?;
    Ok(redirect_with_notice(&member.path("/probes"), "The probe was deleted."))
}

/// Returns whether this member manages probes.
pub(crate) const fn manages(member: &Member) -> bool {
    member.membership.role.includes(Role::Admin)
}

async fn page(
    state: &Dashboard,
    member: &Member,
    (form, chosen): (NewProbeForm, &[String]),
    request: &HeaderMap,
) -> Result<ProbesPage, ScreenError> {
    let probes = state.send(member.caller(), ListProbesRequest {}).await?.probes;
    let workspace = member.membership.workspace.id;
    let is_operator = state.store.workspaces().is_operator(workspace).await?;
    let mut free = state.send(member.caller(), ListRegionsRequest {}).await?.regions;
    free.retain(|region| is_operator && !region_groups::is_private(region));
    let private = Region::ALL.iter().filter(|region| region.is_private());
    free.extend(private.map(|region| region_groups::private(*region)));
    free.retain(|region| !probes.iter().any(|probe| probe.regions.contains(&region.id)));
    let groups = region_groups::by_continent(&free, chosen);
    Ok(ProbesPage {
        frame: Frame::of_member(member, Section::Regions, "Probes", request),
        probes: probes.into_iter().map(ProbeRow::from).collect(),
        is_operator,
        form: NewProbeForm { groups, ..form },
    })
}

fn token_page(
    (state, member): (&Dashboard, &Member),
    (probe, command): (Probe, String),
    overlap_hours: Option<u64>,
    request: &HeaderMap,
) -> Response {
    let title = format!("Start probe {}", probe.name);
    let page = NewTokenPage {
        frame: Frame::of_member(member, Section::Regions, &title, request),
        name: probe.name,
        regions: probe.regions.join(", "),
        is_local: is_local_url(&state.origin),
        command,
        overlap_hours,
    };
    html::page(&page, request)
}

impl From<Probe> for ProbeRow {
    fn from(probe: Probe) -> Self {
        Self {
            id: probe.id,
            name: probe.name,
            regions: probe.regions.join(", "),
            is_connected: probe.connected,
            last_seen_at: probe.last_seen_at.as_option().and_then(decode_instant),
            version: probe.version,
            address: probe.address,
            previous_token_ends_at: probe
                .previous_token_ends_at
                .as_option()
                .and_then(decode_instant),
        }
    }
}
