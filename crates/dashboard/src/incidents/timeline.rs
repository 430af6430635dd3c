//! The timeline of an incident as sentences.

use std::collections::HashMap;

use contract::incident::wire::{Notified, TimelineEntry};
use contract::monitor::decode_instant;
use rules::Timestamp;

use super::close_reason;
use crate::session::Member;
use crate::state::Dashboard;
use crate::{channels, people, region_names};

/// An entry of the timeline, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimelineRow {
    pub(super) at: Timestamp,
    /// Class of its mark: `down`, `up`, `maintenance` or `unknown`.
    pub(super) mark: &'static str,
    pub(super) text: String,
    /// Comment of a person.
    pub(super) comment: Option<String>,
    /// Channel that was notified, whose name the sentence begins with.
    pub(super) channel: Option<NotifiedChannel>,
}

/// A channel that was notified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotifiedChannel {
    pub(super) id: String,
    /// Its name, or its kind if it does not exist any more.
    pub(super) name: String,
}

/// Returns the entries in their order.
pub(super) async fn rows(
    state: &Dashboard,
    member: &Member,
    entries: &[TimelineEntry],
) -> Vec<TimelineRow> {
    let mut rows: Vec<TimelineRow> = entries.iter().map(row).collect();
    let mut names: HashMap<String, Option<String>> = HashMap::new();
    for channel in rows.iter_mut().filter_map(|row| row.channel.as_mut()) {
        if !names.contains_key(&channel.id) {
            let name = channels::name(state, member, &channel.id).await;
            names.insert(channel.id.clone(), name);
        }
        if let Some(Some(name)) = names.get(&channel.id) {
            channel.name.clone_from(name);
        }
    }
    rows
}

/// Returns the time of an entry.
pub(super) fn at(entry: &TimelineEntry) -> Timestamp {
    entry.at.as_option().and_then(decode_instant).unwrap_or_default()
}

fn row(entry: &TimelineEntry) -> TimelineRow {
    let by = || entry.by.as_option().map_or_else(|| "Somebody".to_owned(), people::name);
    let (mark, text) = match entry.kind.as_str() {
        "opened" => ("down", "The monitor went down.".to_owned()),
        "acknowledged" => ("maintenance", format!("{} acknowledged the incident.", by())),
        "commented" => ("unknown", format!("{} commented", by())),
        "region_failed" if entry.region.is_empty() => {
            ("down", "A call was late, or reported a failure.".to_owned())
        }
        "region_failed" => ("down", format!("{} began to fail.", region(entry))),
        "resolved" => ("up", format!("{} resolved the incident.", by())),
        "closed" => ("up", closing(&entry.close_reason).to_owned()),
        "notified" => ("unknown", entry.notified.as_option().map(message).unwrap_or_default()),
        other => ("unknown", other.replace('_', " ")),
    };
    let comment = (entry.kind == "commented").then(|| entry.text.clone());
    let channel = entry.notified.as_option().map(|it| NotifiedChannel {
        id: it.notification_id.clone(),
        name: format!("A channel ({})", it.provider_type.replace('_', " ")),
    });
    TimelineRow { at: at(entry), mark, text, comment, channel }
}

fn region(entry: &TimelineEntry) -> String {
    let region = region_names::with_id(&entry.region);
    if entry.place.is_empty() { region } else { format!("{region}, from {},", entry.place) }
}

/// Returns the sentence for a closing.
pub(super) fn closing(reason: &str) -> &str {
    match reason {
        "recovered" => "The monitor recovered.",
        "degraded" => "The monitor is no longer down, but degraded.",
        "paused" => "The monitor was paused.",
        "deleted" => "The monitor was deleted.",
        other => close_reason(other),
    }
}

/// Returns the sentence after the name of the channel.
fn message(notified: &Notified) -> String {
    let what = match notified.event.as_str() {
        "error" => "the outage",
        "still_degraded" => "that it is still degraded",
        "recovered" => "the recovery",
        other => other,
    };
    match notified.state.as_str() {
        "accepted" => format!("was notified about {what}."),
        "dead" => format!("could not be notified about {what}."),
        _ => format!("gets a message about {what}, which waits."),
    }
}

#[cfg(test)]
mod tests {
    use contract::incident::wire::Person;

    use super::*;

    fn text(kind: &str) -> String {
        let by = Person { key_id: "key_1".to_owned(), name: "deploy".to_owned() };
        let entry = TimelineEntry {
            kind: kind.to_owned(),
            by: by.into(),
            region: "fly-ams".to_owned(),
            close_reason: "recovered".to_owned(),
            ..TimelineEntry::default()
        };
        row(&entry).text
    }

    #[test]
    fn failure_without_a_region_is_a_sentence() {
        let entry = TimelineEntry { kind: "region_failed".to_owned(), ..TimelineEntry::default() };
        assert_eq!(row(&entry).text, "A call was late, or reported a failure.");
    }

    #[test]
    fn entries_are_sentences() {
        let kinds = ["opened", "acknowledged", "region_failed", "resolved", "closed", "new_kind"];
        insta::assert_snapshot!(kinds.map(text).join("\n"), @r"
        The monitor went down.
        key “deploy” acknowledged the incident.
        Amsterdam (fly-ams) began to fail.
        key “deploy” resolved the incident.
        The monitor recovered.
        new kind
        ");
    }

    #[test]
    fn failed_message_is_reported() {
        let notified = Notified {
            provider_type: "ms_teams".to_owned(),
            event: "error".to_owned(),
            state: "dead".to_owned(),
            ..Notified::default()
        };
        let entry = TimelineEntry {
            kind: "notified".to_owned(),
            notified: notified.into(),
            ..TimelineEntry::default()
        };
        let row = row(&entry);
        assert_eq!(row.channel.unwrap().name, "A channel (ms teams)");
        assert_eq!(row.text, "could not be notified about the outage.");
    }
}
