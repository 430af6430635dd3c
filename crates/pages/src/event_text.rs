//! Incidents and time spans as plain text, for all representations.

use domain::history::Span;
use domain::page::{IncidentView, StatusSummary};
use rules::Timestamp;

use super::i18n::Strings;

/// Describes an incident in a sentence.
pub(super) fn incident_title(it: &IncidentView, words: &Strings) -> String {
    match it.closed {
        None => words.summary(&StatusSummary::SomeDown(it.names())),
        Some(_) => words.was_down.replace("{}", &words.names(&it.names())),
    }
}

/// Formats the time of an incident.
pub(super) fn incident_time(it: &IncidentView, words: &Strings) -> String {
    incident_time_with(it, words, |at| words.time(at))
}

/// Formats the time of an incident, with instants formatted by `format`.
pub(super) fn incident_time_with(
    it: &IncidentView,
    words: &Strings,
    format: impl Fn(Timestamp) -> String,
) -> String {
    match it.closed {
        None => words.since.replace("{}", &format(it.opened_at)),
        Some((closed, _)) => {
            let millis = closed.since(it.opened_at).as_millis() as u64;
            let span = time_span_of([format(it.opened_at), format(closed)], words);
            format!("{span} ({})", words.format_duration(millis))
        }
    }
}

/// Formats a time span.
pub(super) fn time_span(span: Span, words: &Strings) -> String {
    time_span_of([words.time(span.from), words.time(span.to)], words)
}

/// Formats a time span between two formatted instants.
pub(super) fn time_span_of([from, to]: [String; 2], words: &Strings) -> String {
    words.from_to.replacen("{}", &from, 1).replacen("{}", &to, 1)
}
