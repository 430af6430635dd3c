//! The calls of a bulk change: one update or deletion for each monitor, many of them at once.

use std::collections::HashMap;

use contract::monitor::wire::DeleteMonitorRequest;
use contract::rpc::Error;
use futures_util::{StreamExt as _, stream};
use rules::{MonitorId, Role, Tag};
use serde_json::{Value as Json, json};
use store::MonitorDefinition;

use crate::backend::CallingMember;
use crate::error::sentence;
use crate::fleet::snapshot::{FleetRow, FleetSnapshot};
use crate::fleet::undo::{BulkAction, BulkChange, ChosenMonitor};
use crate::monitors::methods;
use crate::state::Dashboard;

/// Number of concurrent calls, which the writer commits together.
const CALLS: usize = 32;
/// Role that bulk changes need, as their routes say.
const NEEDED: Role = Role::Editor;

/// Update of one monitor.
pub(super) struct MonitorUpdate {
    monitor: ChosenMonitor,
    /// Name and new value of the field.
    field: (&'static str, Json),
}

/// Outcome of calls for many monitors.
pub(super) struct Outcome {
    pub(super) done: Vec<ChosenMonitor>,
    failed: usize,
    /// The first failure.
    why: Option<Error>,
}

impl MonitorUpdate {
    /// Returns the update of a monitor that the action changes. `None` if it has the wanted state already.
    pub(super) fn new(row: &FleetRow<'_>, action: &BulkAction) -> Option<Self> {
        let definition = &row.monitor.definition;
        let switch = |active| Self::switch(chosen(definition), active);
        match action {
            BulkAction::Pause => definition.active.then(|| switch(false)),
            BulkAction::Resume => (!definition.active).then(|| switch(true)),
            BulkAction::AddTag(tag) => Self::add_tag(definition, tag),
            BulkAction::RemoveTag(tag) => Self::remove_tag(definition, tag),
            // A deletion is no update.
            BulkAction::Delete => None,
        }
    }

    /// Returns the updates that take a change back. Tags are those of now, without or with that of the
    /// change.
    pub(super) fn undo(change: &BulkChange, fleet: &FleetSnapshot) -> Vec<Self> {
        let now: HashMap<MonitorId, &MonitorDefinition> =
            fleet.rows().map(|row| &row.monitor.definition).map(|it| (it.id, it)).collect();
        let undo = |monitor: &ChosenMonitor| match &change.action {
            BulkAction::Pause => Some(Self::switch(monitor.clone(), true)),
            BulkAction::Resume => Some(Self::switch(monitor.clone(), false)),
            BulkAction::AddTag(tag) => Self::remove_tag(now.get(&monitor.id)?, tag),
            BulkAction::RemoveTag(tag) => {
                Self::add_tag(now.get(&monitor.id)?, monitor.removed.as_ref().unwrap_or(tag))
            }
            BulkAction::Delete => None,
        };
        change.monitors.iter().filter_map(undo).collect()
    }

    fn switch(monitor: ChosenMonitor, active: bool) -> Self {
        Self { monitor, field: ("active", json!(active)) }
    }

    fn add_tag(definition: &MonitorDefinition, tag: &Tag) -> Option<Self> {
        let tags = &definition.tags;
        let is_new = tags.iter().all(|known| known.key() != tag.key());
        let all: Vec<&str> = tags.iter().chain([tag]).map(Tag::as_str).collect();
        is_new.then(|| Self { monitor: chosen(definition), field: ("tags", json!(all)) })
    }

    fn remove_tag(definition: &MonitorDefinition, tag: &Tag) -> Option<Self> {
        let tags = &definition.tags;
        let removed = tags.iter().find(|known| known.key() == tag.key())?;
        let rest: Vec<&str> = tags.iter().filter(|it| *it != removed).map(Tag::as_str).collect();
        let monitor = ChosenMonitor { removed: Some(removed.clone()), ..chosen(definition) };
        Some(Self { monitor, field: ("tags", json!(rest)) })
    }
}

impl Outcome {
    /// Returns what to say if not everything worked.
    pub(super) fn notice(&self, action: &BulkAction) -> Option<String> {
        let verb = match action {
            BulkAction::Pause => "paused",
            BulkAction::Resume => "resumed",
            BulkAction::AddTag(_) | BulkAction::RemoveTag(_) => "changed",
            BulkAction::Delete => "deleted",
        };
        let Some(why) = &self.why else {
            return self.done.is_empty().then(|| match action {
                BulkAction::AddTag(tag) => {
                    format!("All of these monitors have the tag “{tag}” already.")
                }
                BulkAction::RemoveTag(tag) => {
                    format!("None of these monitors has the tag “{tag}”.")
                }
                BulkAction::Pause | BulkAction::Resume | BulkAction::Delete => {
                    format!("All of these monitors are {verb} already.")
                }
            });
        };
        let why = sentence(why.message.as_deref().unwrap_or("unknown reason"));
        let (failed, all) = (self.failed, self.failed + self.done.len());
        Some(format!("{failed} of {all} monitors could not be {verb}. {why}"))
    }
}

/// Updates monitors.
pub(super) async fn update(
    state: &Dashboard,
    caller: CallingMember,
    updates: Vec<MonitorUpdate>,
) -> Outcome {
    let call = |MonitorUpdate { monitor, field: (name, value) }: MonitorUpdate| async move {
        let mut change = json!({ "id": monitor.id.to_string() });
        change[name] = value;
        let request = json!({ "monitor": change, "updateMask": name });
        let called = state.send_json(caller, methods(monitor.kind).update, &request).await;
        (monitor, called.map(drop))
    };
    collect(stream::iter(updates).map(call).buffer_unordered(CALLS).collect().await)
}

/// Deletes the monitors of a change at its end, unless it is taken back, the server stops before, or the
/// person no longer has the role that the change needs.
pub(super) async fn delete_later(state: Dashboard, caller: CallingMember, change: BulkChange) {
    tokio::select! {
        () = state.ctx.sleep_until(change.until) => {}
        () = state.stop.cancelled() => return,
    }
    let Some(change) = state.undos.take(change.workspace, &change.token) else { return };
    let Some(caller) = with_current_role(&state, caller).await else { return };
    let call = |monitor: ChosenMonitor| {
        let state = &state;
        async move {
            let called =
                state.send(caller, DeleteMonitorRequest { id: monitor.id.to_string() }).await;
            (monitor, called.map(drop))
        }
    };
    let monitors = change.monitors.iter().cloned();
    let outcome = collect(stream::iter(monitors).map(call).buffer_unordered(CALLS).collect().await);
    if let Some(why) = outcome.why {
        let (failed, why) = (outcome.failed, why.message.unwrap_or_default());
        tracing::warn!("failed to delete {failed} monitors of a selection: {why}");
    }
}

/// Returns the person with the role of now. `None`, which is recorded, if it no longer suffices for a
/// bulk change or cannot be read.
async fn with_current_role(state: &Dashboard, caller: CallingMember) -> Option<CallingMember> {
    let why = match state.store.members().role(caller.workspace, caller.user).await {
        Ok(Some(role)) if role.includes(NEEDED) => return Some(CallingMember { role, ..caller }),
        Ok(Some(role)) => format!("the role is {role} now"),
        Ok(None) => "the person is no longer a member".to_owned(),
        Err(error) => format!("failed to read the role: {error}"),
    };
    tracing::warn!(
        workspace.id = %caller.workspace,
        user.id = %caller.user,
        "refused to delete monitors of a selection: {why}"
    );
    state.audit((caller.user, caller.address), "monitor.bulk_delete_refuse", why).await;
    None
}

/// Returns a monitor of a change that removes no tag.
pub(super) const fn chosen(definition: &MonitorDefinition) -> ChosenMonitor {
    ChosenMonitor { id: definition.id, kind: definition.kind, removed: None }
}

fn collect(called: Vec<(ChosenMonitor, Result<(), Error>)>) -> Outcome {
    let mut outcome = Outcome { done: Vec::with_capacity(called.len()), failed: 0, why: None };
    for (monitor, result) in called {
        match result {
            Ok(()) => outcome.done.push(monitor),
            Err(why) => {
                outcome.failed += 1;
                outcome.why.get_or_insert(why);
            }
        }
    }
    outcome
}
