//! Instants and time spans as HTML. The script turns each instant into the visitor's time zone.

use domain::history::Span;
use domain::page::IncidentView;
use rules::Timestamp;

use super::super::event_text;
use super::super::i18n::Strings;

/// Renders an instant.
pub(super) fn time_html(at: Timestamp, words: &Strings) -> String {
    format!("<time datetime=\"{at}\">{}</time>", words.time(at))
}

/// Renders the time of an incident.
pub(super) fn incident_time_html(it: &IncidentView, words: &Strings) -> String {
    event_text::incident_time_with(it, words, |at| time_html(at, words))
}

/// Renders a time span.
pub(super) fn time_span_html(span: Span, words: &Strings) -> String {
    event_text::time_span_of([span.from, span.to].map(|at| time_html(at, words)), words)
}
