//! Events as pages and feeds show them: incidents and maintenance.

use askama::Template;
use domain::judge::CloseReason;
use domain::page::{HistoryDay, IncidentView, MaintenanceView, State, StatusSummary};
use rules::Timestamp;

use super::super::bars::escaped;
use super::super::i18n::Strings;
use super::{render, report};

#[derive(Template)]
#[template(path = "event.html")]
struct Event {
    state: State,
    title: String,
    link: Option<String>,
    /// Lines of HTML.
    lines: Vec<String>,
}

/// Renders an instant as HTML. The script turns it into the visitor's time zone.
pub(super) fn stamp(at: Timestamp, words: &Strings) -> String {
    format!("<time datetime=\"{at}\">{}</time>", words.time(at))
}

/// Renders all events of a day: reports, incidents and maintenance.
pub(super) fn render_events(day: &HistoryDay, words: &'static Strings, base: &str) -> Vec<String> {
    let reports = report::cards(&day.reports, words, base);
    let incidents = day.incidents.iter().map(|it| incident(it, words, base));
    let windows = day.maintenances.iter().map(|it| maintenance(it, words));
    reports.into_iter().chain(incidents).chain(windows).collect()
}

pub(super) fn incident(it: &IncidentView, words: &'static Strings, base: &str) -> String {
    let title = incident_title(it, words);
    let mut lines = vec![incident_stamps(it, words)];
    if it.closed.is_none() && it.acknowledged_at.is_some() {
        lines.push(words.being_worked_on.to_owned());
    }
    let state = match it.closed {
        None => State::Down,
        Some((_, CloseReason::Degraded)) => State::Degraded,
        Some(_) => State::Up,
    };
    let link = Some(format!("{base}/incident/{}", it.id));
    render(&Event { state, title, link, lines })
}

/// Describes an incident in a sentence.
pub(crate) fn incident_title(it: &IncidentView, words: &Strings) -> String {
    match it.closed {
        None => words.sentence(&StatusSummary::SomeDown(it.names())),
        Some(_) => words.was_down.replace("{}", &words.names(&it.names())),
    }
}

/// Renders the time of an incident as plain text.
pub(crate) fn incident_time(it: &IncidentView, words: &Strings) -> String {
    when(it, words, |at| words.time(at))
}

/// Renders the time of an incident as HTML.
pub(super) fn incident_stamps(it: &IncidentView, words: &Strings) -> String {
    when(it, words, |at| stamp(at, words))
}

fn when(it: &IncidentView, words: &Strings, time: impl Fn(Timestamp) -> String) -> String {
    match it.closed {
        None => words.since.replace("{}", &time(it.opened_at)),
        Some((closed, _)) => {
            let long = closed.since(it.opened_at).as_millis() as u64;
            let span = span(words, [time(it.opened_at), time(closed)]);
            format!("{span} ({})", words.format_duration(long))
        }
    }
}

pub(super) fn maintenance(it: &MaintenanceView, words: &'static Strings) -> String {
    let mut lines = vec![span(words, [it.window.from, it.window.to].map(|at| stamp(at, words)))];
    lines.extend(it.description.as_deref().map(escaped));
    if !it.components.is_empty() {
        lines.push(escaped(&words.names(&it.names())));
    }
    let (state, title) = (State::Maintenance, it.title.clone());
    render(&Event { state, title, link: None, lines })
}

/// Formats a time span.
pub(crate) fn between(from: Timestamp, to: Timestamp, words: &Strings) -> String {
    span(words, [words.time(from), words.time(to)])
}

fn span(words: &Strings, [from, to]: [String; 2]) -> String {
    words.from_to.replacen("{}", &from, 1).replacen("{}", &to, 1)
}
