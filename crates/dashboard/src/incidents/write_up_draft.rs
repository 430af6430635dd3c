//! The draft of a write-up: Markdown from the timeline of an incident. A person edits it before others
//! read it. It quotes no evidence, which visitors may not see (docs/decisions/0048).

use contract::incident::wire::{GetIncidentResponse, TimelineEntry};
use rules::Timestamp;

use super::show::IncidentView;
use super::timeline::{at, closing};
use crate::{region_names, time};

/// Maximum number of lines in the timeline of a draft.
const LINES_MAX: usize = 60;

/// Returns the draft. It names no person, because visitors will read it.
pub(super) fn draft(found: &GetIncidentResponse, incident: &IncidentView) -> String {
    let mut text = format!("{}\n\n", summary(incident));
    text.push_str("**Impact**\n\nDescribe what people noticed.\n\n**Timeline (UTC)**\n\n");
    for line in lines(found) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("\n**Cause**\n\nDescribe the cause.\n");
    text.push_str("\n**Next steps**\n\nDescribe what prevents a repetition.\n");
    text
}

fn summary(incident: &IncidentView) -> String {
    let (name, from) = (escaped(&incident.monitor), moment(incident.opened_at));
    match incident.closed_at {
        Some(to) => format!(
            "**{name}** was down for {}, from {from} to {} UTC.",
            incident.duration,
            moment(to)
        ),
        None => format!("**{name}** has been down since {from} UTC."),
    }
}

/// Returns a line for each entry that visitors can understand.
fn lines(found: &GetIncidentResponse) -> Vec<String> {
    let told = found.timeline.iter().filter_map(|entry| {
        let what = sentence(entry)?;
        Some(format!("- {} {what}", time::format(at(entry), "%H:%M")))
    });
    // Regions that one probe serves are one place.
    let mut lines: Vec<String> = told.collect();
    lines.dedup();
    lines.truncate(LINES_MAX);
    lines
}

fn sentence(entry: &TimelineEntry) -> Option<String> {
    Some(match entry.kind.as_str() {
        "opened" => "Our checks detected the outage.".to_owned(),
        "acknowledged" => "We began to work on it.".to_owned(),
        "region_failed" if entry.place.is_empty() && !entry.region.is_empty() => {
            format!("Checks from {} failed.", escaped(&region_names::city(&entry.region)))
        }
        // Visitors do not know the names of probes, and heartbeat monitors have no regions.
        "region_failed" => "Our checks failed.".to_owned(),
        "commented" => entry.text.split_whitespace().collect::<Vec<_>>().join(" "),
        "resolved" => "We resolved the incident.".to_owned(),
        "closed" => closing(&entry.close_reason).to_owned(),
        _ => return None,
    })
}

fn moment(at: Timestamp) -> String {
    time::format(at, "%Y-%m-%d %H:%M")
}

/// Escapes the characters of Markdown that names and reasons may contain.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if ['\\', '`', '*', '_', '[', ']', '<', '>', '#', '~'].contains(&letter) {
            escaped.push('\\');
        }
        escaped.push(if letter.is_control() { ' ' } else { letter });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use contract::incident::wire::RegionEvidence;
    use contract::monitor::encode_instant;
    use contract::monitor::wire::AttemptLog;

    use super::*;

    fn entry(minute: i64, kind: &str, text: &str) -> TimelineEntry {
        TimelineEntry {
            at: encode_instant(Timestamp::from_millis(1_795_219_200_000 + minute * 60_000)),
            kind: kind.to_owned(),
            text: text.to_owned(),
            region: "fly-ams".to_owned(),
            close_reason: "recovered".to_owned(),
            ..TimelineEntry::default()
        }
    }

    /// Failure of a region that the server itself checks.
    fn elsewhere(minute: i64) -> TimelineEntry {
        TimelineEntry { place: "this server".to_owned(), ..entry(minute, "region_failed", "") }
    }

    #[test]
    fn draft_tells_the_incident_without_names() {
        let attempt = AttemptLog {
            failure: "timeout".to_owned(),
            failure_detail: "no answer from 10.0.0.7 within 45 s".to_owned(),
            ..AttemptLog::default()
        };
        let evidence = RegionEvidence { attempts: vec![attempt], ..RegionEvidence::default() };
        let found = GetIncidentResponse {
            timeline: vec![
                entry(0, "opened", ""),
                entry(0, "region_failed", ""),
                entry(1, "notified", ""),
                elsewhere(1),
                elsewhere(1),
                entry(4, "commented", "The disk\nwas full."),
                entry(12, "closed", ""),
            ],
            evidence: vec![evidence],
            ..GetIncidentResponse::default()
        };
        let incident = IncidentView {
            id: String::new(),
            monitor_id: String::new(),
            monitor: "API *prod*".to_owned(),
            opened_at: Timestamp::from_millis(1_795_219_200_000),
            closed_at: Some(Timestamp::from_millis(1_795_219_200_000 + 720_000)),
            closed: "recovered".to_owned(),
            duration: "12 min".to_owned(),
            acknowledged: None,
            is_monitor_gone: false,
        };
        insta::assert_snapshot!(draft(&found, &incident), @r"
        **API \*prod\*** was down for 12 min, from 2026-11-21 00:00 to 2026-11-21 00:12 UTC.

        **Impact**

        Describe what people noticed.

        **Timeline (UTC)**

        - 00:00 Our checks detected the outage.
        - 00:00 Checks from Amsterdam failed.
        - 00:01 Our checks failed.
        - 00:04 The disk was full.
        - 00:12 The monitor recovered.

        **Cause**

        Describe the cause.

        **Next steps**

        Describe what prevents a repetition.
        ");
    }
}
