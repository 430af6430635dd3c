//! Page of an incident for visitors: its time, its duration, the affected components and a
//! timeline. It excludes the results of checks and the names of responders.

use askama::Template;
use domain::judge::CloseReason;
use domain::page::{IncidentView, State};
use rules::Timestamp;

use super::super::event_text::incident_title;
use super::super::i18n::{DetailStrings, Strings};
use super::super::snapshot::PageSnapshot;
use super::time::incident_time_html;
use super::{PageLayout, render};

#[derive(Template)]
#[template(path = "incident.html")]
struct IncidentPage<'a> {
    frame: PageLayout<'a>,
    title: String,
    state: State,
    /// Time of the incident as HTML.
    when: String,
    /// Names of components with the paths of their pages.
    components: Vec<(String, &'a str)>,
    /// Timeline, newest first.
    entries: Vec<TimelineRow>,
    /// Path of the month in the history that also contains the incident.
    month: String,
}

/// An entry of the timeline.
struct TimelineRow {
    state: State,
    text: &'static str,
    iso: String,
    at: String,
    more: Vec<String>,
}

pub(crate) fn incident_page(
    snapshot: &PageSnapshot,
    words: &'static Strings,
    base: &str,
    it: &IncidentView,
    places: u32,
) -> String {
    let title = incident_title(it, words);
    let mut frame = PageLayout::for_page(&snapshot.page, words, base);
    frame.heading = format!("{title} · {}", snapshot.page.settings.title);
    let state = match it.closed {
        None => State::Down,
        Some((_, how)) => State::after_close(how),
    };
    let components =
        it.components.iter().map(|it| (format!("{base}/component/{}", it.id), it.name.as_str()));
    render(&IncidentPage {
        title,
        state,
        when: incident_time_html(it, words),
        components: components.collect(),
        entries: entries(it, places, words),
        month: format!("{base}/history/{}", domain::page::Month::containing(it.opened_at)),
        frame,
    })
}

/// Returns the timeline, newest first.
fn entries(it: &IncidentView, places: u32, words: &'static Strings) -> Vec<TimelineRow> {
    let detail = words.detail;
    let entry = |state, text, at: Timestamp, more| TimelineRow {
        state,
        text,
        iso: at.to_string(),
        at: words.time(at),
        more,
    };
    let mut entries = Vec::new();
    if let Some((at, how)) = it.closed {
        let long = words.format_duration(at.since(it.opened_at).as_millis() as u64);
        entries.push(entry(
            State::after_close(how),
            closed_text(how, detail),
            at,
            vec![detail.duration.replace("{}", &long)],
        ));
    }
    if let Some(at) = it.acknowledged_at {
        entries.push(entry(State::Degraded, detail.acknowledged, at, Vec::new()));
    }
    let seen = (places > 0).then(|| DetailStrings::pluralize(detail.seen_from, places));
    entries.push(entry(State::Down, detail.began, it.opened_at, seen.into_iter().collect()));
    entries
}

const fn closed_text(how: CloseReason, detail: &DetailStrings) -> &'static str {
    match how {
        CloseReason::Recovered => detail.recovered,
        CloseReason::Degraded => detail.in_part,
        CloseReason::Paused | CloseReason::Deleted => detail.unchecked,
        CloseReason::Resolved => detail.resolved,
    }
}
