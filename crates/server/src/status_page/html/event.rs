//! What happened, as pages and feeds tell it: incidents and maintenance.

use askama::Template;
use domain::judge::ClosedAs;
use domain::page::{HistoryDay, IncidentView, MaintenanceView, Sentence, State};
use rules::Timestamp;

use super::super::words::Words;
use super::{rendered, report};

#[derive(Template)]
#[template(path = "status_page/event.html")]
struct Event {
    state: State,
    title: String,
    link: Option<String>,
    lines: Vec<String>,
}

/// What a day tells, in one list: reports, incidents and maintenance.
pub(super) fn told(day: &HistoryDay, words: &'static Words, base: &str) -> Vec<String> {
    let reports = report::cards(&day.reports, words, base);
    let incidents = day.incidents.iter().map(|it| incident(it, words, base));
    let windows = day.maintenances.iter().map(|it| maintenance(it, words));
    reports.into_iter().chain(incidents).chain(windows).collect()
}

pub(super) fn incident(it: &IncidentView, words: &'static Words, base: &str) -> String {
    let title = incident_title(it, words);
    let mut lines = vec![incident_time(it, words)];
    if it.closed.is_none() && it.acknowledged_at.is_some() {
        lines.push(words.being_worked_on.to_owned());
    }
    let state = match it.closed {
        None => State::Down,
        Some((_, ClosedAs::Degraded)) => State::Degraded,
        Some(_) => State::Up,
    };
    let link = Some(format!("{base}/incident/{}", it.id));
    rendered(&Event { state, title, link, lines })
}

/// What an incident is, in a sentence.
pub(in crate::status_page) fn incident_title(it: &IncidentView, words: &Words) -> String {
    match it.closed {
        None => words.sentence(&Sentence::SomeDown(it.names())),
        Some(_) => words.was_down.replace("{}", &words.names(&it.names())),
    }
}

/// When an incident was.
pub(in crate::status_page) fn incident_time(it: &IncidentView, words: &Words) -> String {
    match it.closed {
        None => words.since.replace("{}", &words.time(it.opened_at)),
        Some((closed, _)) => {
            let long = closed.since(it.opened_at).as_millis() as u64;
            format!("{} ({})", between(it.opened_at, closed, words), words.long(long))
        }
    }
}

pub(super) fn maintenance(it: &MaintenanceView, words: &'static Words) -> String {
    let mut lines = vec![between(it.window.from, it.window.to, words)];
    lines.extend(it.description.clone());
    if !it.components.is_empty() {
        lines.push(words.names(&it.names()));
    }
    let (state, title) = (State::Maintenance, it.title.clone());
    rendered(&Event { state, title, link: None, lines })
}

/// A stretch of time in words.
pub(in crate::status_page) fn between(from: Timestamp, to: Timestamp, words: &Words) -> String {
    words.from_to.replacen("{}", &words.time(from), 1).replacen("{}", &words.time(to), 1)
}
