//! Changes many monitors at once: those that a person ticked, or all that match the filter. Each is a
//! call of the contract. A deletion happens after ten seconds, unless it is taken back or the server
//! stops. All else happens at once and can be taken back. `bulk_update` makes the calls.

use std::collections::HashSet;
use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use rules::{FormatError, MonitorId, Tag};

use super::bulk_update::{MonitorUpdate, chosen, delete_later, update};
use super::list::refused_page;
use super::view::{FleetScreen, FleetView, RefusedTag};
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::fleet::filter::FleetFilter;
use crate::fleet::snapshot::{FleetRow, FleetSnapshot};
use crate::fleet::undo::{BulkAction, BulkChange, ChosenMonitor, DELETION_WINDOW};
use crate::html::{self, Frame, Section, redirect, redirect_with_notice, redirect_with_refusal};
use crate::session::Member;
use crate::state::Dashboard;

/// Number of monitors that the confirmation names.
const NAMED: usize = 20;

/// A posted choice of monitors and what to do with them.
struct BulkChoice {
    screen: FleetScreen,
    filter: FleetFilter,
    /// Whether all monitors that match the filter are chosen.
    all: bool,
    ids: HashSet<MonitorId>,
    /// Number of monitors whose deletion was confirmed.
    confirmed: Option<usize>,
}

#[derive(Template)]
#[template(path = "bulk_delete.html")]
struct ConfirmationPage {
    frame: Frame,
    screen: FleetScreen,
    filter: FleetFilter,
    all: bool,
    ids: Vec<MonitorId>,
    count: usize,
    names: Vec<String>,
    seconds: u64,
    back: String,
}

/// Changes the chosen monitors.
pub(super) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let choice = BulkChoice::new(&posted);
    let back = choice.back(&member);
    let action = match action(&posted) {
        Some(Ok(action)) => action,
        Some(Err(why)) => {
            let fleet = state.fleet.get(&state.store, member.workspace(), state.ctx.now()).await?;
            let which = (&*fleet, choice.screen);
            let mut view = FleetView::new(&state, &member, which, &posted).await?;
            view.refused = RefusedTag {
                tag: value(&posted, "new_tag").unwrap_or_default().to_owned(),
                why: Some(format!("The tag {why}.")),
                ids: choice.ids,
                all: choice.all,
            };
            return Ok(refused_page(&member, view, &request));
        }
        None => return Err(ScreenError::Malformed("no known action was chosen".to_owned())),
    };
    let (workspace, now) = (member.workspace(), state.ctx.now());
    let fleet = state.fleet.get(&state.store, workspace, now).await?;
    let rows = choice.rows(&fleet);
    if rows.is_empty() {
        return Ok(redirect_with_refusal(&back, "No monitor was selected."));
    }
    if action == BulkAction::Delete && choice.confirmed != Some(rows.len()) {
        let page = confirmation(&member, &choice, &rows, (back, &request));
        return Ok(html::page(&page, &request));
    }
    match action {
        BulkAction::Pause
        | BulkAction::Resume
        | BulkAction::AddTag(_)
        | BulkAction::RemoveTag(_) => {
            let updates = rows.iter().filter_map(|row| MonitorUpdate::new(row, &action)).collect();
            let outcome = update(&state, member.caller(), updates).await;
            let notice = outcome.notice(&action);
            if !outcome.done.is_empty() {
                state.undos.add(change(&state, &member, action, outcome.done.into()), now);
            }
            Ok(match notice {
                Some(notice) => redirect_with_notice(&back, &notice),
                None => redirect(&back),
            })
        }
        BulkAction::Delete => {
            let chosen = rows.iter().map(|row| chosen(&row.monitor.definition)).collect();
            let change = change(&state, &member, action, chosen);
            if !state.undos.add(change.clone(), now) {
                return Err(ScreenError::TooManyAttempts { retry_after: DELETION_WINDOW });
            }
            tokio::spawn(delete_later(state, member.caller(), change));
            Ok(redirect(&back))
        }
    }
}

/// Takes a bulk change back.
pub(super) async fn take_back(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let filter = FleetFilter::parse(pairs(&posted));
    let screen = FleetScreen::of_form(&posted);
    let back = member.path(&format!("{}{}", screen.below(), filter.query()));
    let token = value(&posted, "change").unwrap_or_default();
    let Some(change) = state.undos.take(member.workspace(), token) else {
        return Ok(redirect_with_notice(&back, "It is too late to undo this."));
    };
    let opposite = match &change.action {
        BulkAction::Pause => BulkAction::Resume,
        BulkAction::Resume => BulkAction::Pause,
        BulkAction::AddTag(tag) => BulkAction::RemoveTag(tag.clone()),
        BulkAction::RemoveTag(tag) => BulkAction::AddTag(tag.clone()),
        BulkAction::Delete => return Ok(redirect_with_notice(&back, "Nothing was deleted.")),
    };
    let fleet = state.fleet.get(&state.store, member.workspace(), state.ctx.now()).await?;
    let updates = MonitorUpdate::undo(&change, &fleet);
    let outcome = update(&state, member.caller(), updates).await;
    let notice = outcome.notice(&opposite).unwrap_or_else(|| "The change was undone.".to_owned());
    Ok(redirect_with_notice(&back, &notice))
}

impl BulkChoice {
    fn new(posted: &[(String, String)]) -> Self {
        let ids = pairs(posted).filter(|(name, _)| *name == "monitor");
        Self {
            screen: FleetScreen::of_form(posted),
            filter: FleetFilter::parse(pairs(posted)),
            all: value(posted, "all").is_some(),
            ids: ids.filter_map(|(_, id)| MonitorId::parse(id).ok()).collect(),
            confirmed: value(posted, "confirmed").and_then(|count| count.parse().ok()),
        }
    }

    /// Returns the path of the list that the choice was made in.
    fn back(&self, member: &Member) -> String {
        member.path(&format!("{}{}", self.screen.below(), self.filter.query()))
    }

    /// Returns the chosen monitors of the fleet.
    fn rows<'f>(&self, fleet: &'f FleetSnapshot) -> Vec<FleetRow<'f>> {
        if self.all {
            return self.filter.select(fleet);
        }
        fleet.rows().filter(|row| self.ids.contains(&row.monitor.definition.id)).collect()
    }
}

/// Returns the posted action. An error is about its tag.
fn action(posted: &[(String, String)]) -> Option<Result<BulkAction, FormatError>> {
    let tag = || Tag::parse(value(posted, "new_tag").unwrap_or_default().trim());
    match value(posted, "action")? {
        "pause" => Some(Ok(BulkAction::Pause)),
        "resume" => Some(Ok(BulkAction::Resume)),
        "add_tag" => Some(tag().map(BulkAction::AddTag)),
        "remove_tag" => Some(tag().map(BulkAction::RemoveTag)),
        "delete" => Some(Ok(BulkAction::Delete)),
        _ => None,
    }
}

fn value<'p>(posted: &'p [(String, String)], wanted: &str) -> Option<&'p str> {
    pairs(posted).find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

fn pairs(posted: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    posted.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

fn change(
    state: &Dashboard,
    member: &Member,
    action: BulkAction,
    monitors: Arc<[ChosenMonitor]>,
) -> BulkChange {
    BulkChange {
        token: URL_SAFE_NO_PAD.encode(state.ctx.secret_bytes()),
        workspace: member.workspace(),
        user: member.signed_in.user.id,
        until: state.ctx.now() + action.window(),
        action,
        monitors,
    }
}

fn confirmation(
    member: &Member,
    choice: &BulkChoice,
    rows: &[FleetRow<'_>],
    (back, request): (String, &HeaderMap),
) -> ConfirmationPage {
    let name = |row: &FleetRow<'_>| row.monitor.definition.name.clone();
    ConfirmationPage {
        frame: Frame::of_member(member, Section::Monitors, "Delete monitors", request),
        screen: choice.screen,
        filter: choice.filter.clone(),
        all: choice.all,
        ids: if choice.all { Vec::new() } else { choice.ids.iter().copied().collect() },
        count: rows.len(),
        names: rows.iter().take(NAMED).map(name).collect(),
        seconds: DELETION_WINDOW.as_secs(),
        back,
    }
}
