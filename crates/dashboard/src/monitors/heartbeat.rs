//! The URL of a heartbeat monitor: lines to copy into a crontab, a script or a unit, and its replacement.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::monitor::wire::{RotateHeartbeatUrlRequest, Timestamp as WireTimestamp};
use domain::check::expected_calls;
use http::HeaderMap;
use rules::MonitorKind;
use rules::monitor::HeartbeatCheck;

use super::stored::{self, StoredMonitor};
use crate::confirm::{self, Question};
use crate::error::ScreenError;
use crate::html::{Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;
use crate::time::wire_time;

/// Part of the page of a heartbeat monitor.
pub(super) struct HeartbeatPanel {
    /// Time of the last call, as HTML. Empty before the first.
    pub(super) last: String,
    /// Lines to copy. Empty for people who may not see the URL.
    pub(super) lines: Vec<CopiedLine>,
}

/// Text to copy.
pub(super) struct CopiedLine {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) text: String,
}

impl HeartbeatPanel {
    /// Returns the panel of a heartbeat monitor. `None` for other kinds.
    pub(super) fn new(monitor: &StoredMonitor) -> Option<Self> {
        if monitor.kind != MonitorKind::Heartbeat {
            return None;
        }
        let last = monitor.json["lastHeartbeatAt"].clone();
        let last = serde_json::from_value::<WireTimestamp>(last).ok();
        let last = wire_time(last.as_ref()).unwrap_or_default();
        let url = Some(monitor.text("url")).filter(|url| !url.is_empty());
        Some(Self { last, lines: url.map(lines).unwrap_or_default() })
    }
}

/// Returns what a heartbeat monitor waits for, in words. Empty for other kinds.
pub(super) fn expected(monitor: &StoredMonitor) -> String {
    let interval = monitor.json["interval"].as_u64().and_then(|it| u32::try_from(it).ok());
    let is_heartbeat = monitor.kind == MonitorKind::Heartbeat;
    let check = interval.filter(|_| is_heartbeat).map(HeartbeatCheck::new);
    check.as_ref().map(expected_calls).unwrap_or_default()
}

fn lines(url: &str) -> Vec<CopiedLine> {
    let line = |id, title, text| CopiedLine { id, title, text };
    let curl = "curl -fsS -m 10 --retry 5";
    vec![
        line("heartbeat-url", "URL", url.to_owned()),
        line("heartbeat-curl", "At the end of a script", format!("{curl} {url}")),
        line(
            "heartbeat-crontab",
            "In a crontab",
            format!("0 2 * * * /path/to/job; {curl} {url}/$?"),
        ),
        line(
            "heartbeat-systemd",
            "In a unit of systemd",
            // After a signal, the status is its name.
            format!(
                "[Service]\nExecStopPost=/bin/sh -c 'case $$EXIT_STATUS in \
                 \"\"|*[!0-9]*) EXIT_STATUS=fail;; esac; {curl} {url}/$$EXIT_STATUS'"
            ),
        ),
    ]
}

/// Asks whether to replace the URL.
pub(crate) async fn confirm_rotation(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let monitor = stored::find(&state, &member, &id).await?;
    let title = format!("Replace the URL of “{}”?", monitor.name());
    let question = Question {
        frame: Frame::of_member(&member, Section::Monitors, title, &request),
        text:
            "Calls of the present URL are refused at once. Change the job right after, before its \
               next call is late."
                .to_owned(),
        action: member.path(&format!("/monitors/{id}/rotate-url")),
        button: "Replace URL",
        back: member.path(&format!("/monitors/{id}")),
    };
    Ok(confirm::ask(question, &request))
}

/// Replaces the URL.
pub(crate) async fn rotate(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), RotateHeartbeatUrlRequest { id: id.clone() }).await?;
    let notice = "The URL was replaced. Change the job, because the previous one is refused.";
    Ok(redirect_with_notice(&member.path(&format!("/monitors/{id}")), notice))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn readers_see_no_lines_with_the_url() {
        let url = "https://aloft.example.com/heartbeat/token";
        let monitor = |json| StoredMonitor { kind: MonitorKind::Heartbeat, json };
        let panel = HeartbeatPanel::new(&monitor(json!({ "interval": 3_600 }))).unwrap();
        assert!(panel.lines.is_empty());
        let seen = monitor(json!({ "interval": 3_600, "url": url }));
        assert_eq!(expected(&seen), "a heartbeat every 1 h");
        let lines = HeartbeatPanel::new(&seen).unwrap().lines;
        assert!(lines.iter().all(|line| line.text.contains(url)));
    }
}
