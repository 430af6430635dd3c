//! Incidents of a monitor, as rows of its page.

use domain::judge::CloseReason;
use store::Incident;

use super::units::{self, Badge};
use crate::people;
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

/// An incident.
#[derive(Clone, Debug)]
pub(super) struct StoredIncident {
    pub(super) path: String,
    pub(super) state: Badge,
    /// Time of opening, as HTML.
    pub(super) opened_at: String,
    pub(super) duration: String,
    /// How it ended, or the person who works on it.
    pub(super) note: String,
}

/// Returns the rows of these incidents.
pub(super) fn rows(
    state: &Dashboard,
    member: &Member,
    incidents: &[Incident],
) -> Vec<StoredIncident> {
    let now = state.ctx.now();
    let row = |incident: &Incident| {
        let end = incident.closed.map_or(now, |it| it.at);
        let badge = match incident.closed {
            None => Badge { class: "down", icon: "down", word: "Open" },
            Some(_) => Badge { class: "up", icon: "up", word: "Closed" },
        };
        StoredIncident {
            path: member.path(&format!("/incidents/{}", incident.id)),
            state: badge,
            opened_at: time::time(&incident.opened_at),
            duration: units::between(incident.opened_at, end),
            note: note(incident),
        }
    };
    incidents.iter().map(row).collect()
}

fn note(incident: &Incident) -> String {
    let Some(closed) = incident.closed else {
        let by = incident.acknowledged.as_ref().map(|it| &it.by);
        return match by {
            Some(by) => format!("Acknowledged by {}", people::stored_name(by)),
            None => "Not acknowledged".to_owned(),
        };
    };
    let how = match closed.reason {
        CloseReason::Recovered => "Recovered",
        CloseReason::Degraded => "Up again, but degraded",
        CloseReason::Paused => "Ended when the monitor was paused",
        CloseReason::Deleted => "Ended when the monitor was deleted",
        CloseReason::Resolved => "Resolved by a person",
    };
    how.to_owned()
}
