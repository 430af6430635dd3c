//! Pages as HTML: complete without a script, one request each. Templates are in
//! `templates/status_page`; what they are filled with is made here.

use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::judge::ClosedAs;
use domain::page::{
    ComponentView, DAYS, GroupView, IncidentView, MaintenanceView, Section, Sentence, State,
};
use http::HeaderValue;
use rules::status_page::StatusPage;
use rules::{Theme, Timestamp};
use sha2::{Digest as _, Sha256};

use super::bars;
use super::shelf::Shown;
use super::words::{Words, iso_date};

/// All of the pages' style, in each of them: one request shows a page.
pub(super) const STYLE: &str = include_str!("../../templates/status_page/style.css");

/// What makes an open page live; see the file.
pub(super) const SCRIPT: &str = include_str!("../../templates/status_page/live.js");

/// What a browser may load for a page: itself.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("base64 is a header")
});

/// The policy that every page is sent with.
pub(super) fn policy() -> HeaderValue {
    POLICY.clone()
}

/// A page of details, as its address names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A component, by its identifier.
    Component(String),
    /// A day of UTC, such as `2026-11-21`.
    Day(String),
}

/// What is around every page.
pub(super) struct Frame<'a> {
    pub(super) words: &'static Words,
    pub(super) heading: String,
    pub(super) title: &'a str,
    pub(super) about: Option<&'a str>,
    pub(super) homepage: Option<&'a str>,
    pub(super) contact: Option<&'a str>,
    pub(super) theme: Option<&'static str>,
    pub(super) base: &'a str,
    /// Whether the visitor is in, and may know of feeds.
    pub(super) is_open: bool,
    pub(super) style: &'static str,
}

#[derive(Template)]
#[template(path = "status_page/home.html")]
struct Home<'a> {
    frame: Frame<'a>,
    state: State,
    sentence: String,
    /// What stands before the time, the time for machines and for people, and what stands after.
    checked: Option<(String, String, String, String)>,
    notes: Vec<String>,
    open: Vec<String>,
    sections: Vec<Part<'a>>,
    planned: Vec<String>,
    history: Vec<HistoryPart>,
}

/// A part of the list of components.
enum Part<'a> {
    Single(ComponentPart<'a>),
    Group(GroupPart<'a>),
}

struct GroupPart<'a> {
    id: String,
    name: &'a str,
    state: State,
    word: &'static str,
    is_open: bool,
    bars: Option<String>,
    components: Vec<ComponentPart<'a>>,
}

struct ComponentPart<'a> {
    id: String,
    name: &'a str,
    about: Option<&'a str>,
    state: State,
    word: &'static str,
    bars: Option<String>,
    uptime: Option<String>,
    /// Where the bars begin: on wide, middle and narrow screens.
    ago: [String; 3],
}

struct HistoryPart {
    iso: String,
    date: String,
    events: Vec<String>,
}

#[derive(Template)]
#[template(path = "status_page/event.html")]
struct Event {
    state: State,
    title: String,
    link: Option<String>,
    lines: Vec<String>,
}

#[derive(Template)]
#[template(path = "status_page/days.html")]
struct Days<'a> {
    frame: Frame<'a>,
    heading: String,
    events: Vec<String>,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    ways: Vec<(&'static str, String)>,
}

impl<'a> Frame<'a> {
    pub(super) fn of(page: &'a StatusPage, words: &'static Words, base: &'a str) -> Self {
        let settings = &page.settings;
        Self {
            words,
            heading: settings.title.clone(),
            title: &settings.title,
            about: settings.description.as_deref(),
            homepage: settings.homepage_url.as_deref(),
            contact: settings.contact_url.as_deref(),
            theme: match page.theme {
                Theme::System => None,
                Theme::Light => Some("light"),
                Theme::Dark => Some("dark"),
            },
            base,
            is_open: true,
            style: STYLE,
        }
    }
}

/// The home page.
pub(super) fn home(shown: &Shown, words: &'static Words, base: &str) -> String {
    let view = &shown.view;
    let knowledge = &view.verdict.knowledge;
    let sentence = words.sentence(&view.verdict.sentence);
    let mut notes = Vec::new();
    if shown.cut_off {
        notes.push(words.old.replace("{}", &words.time(view.at)));
    }
    if !knowledge.stale.is_empty() {
        notes.push(words.stale.replace("{}", &words.names(&knowledge.stale)));
    }
    let mut frame = Frame::of(&shown.page, words, base);
    frame.heading = format!("{} · {}", sentence, shown.page.settings.title);
    let home = Home {
        frame,
        state: view.verdict.state,
        checked: knowledge.checked_at.map(|at| checked(at, words)),
        sentence,
        notes,
        open: view.open.iter().map(|it| incident(it, words, base)).collect(),
        sections: view.sections.iter().map(|section| part(section, words, base)).collect(),
        planned: view.planned.iter().map(|it| maintenance(it, words)).collect(),
        history: view
            .history
            .iter()
            .map(|day| HistoryPart {
                iso: iso_date(day.begins),
                date: words.date(day.begins),
                events: events(&day.incidents, &day.maintenances, words, base),
            })
            .collect(),
    };
    rendered(&home)
}

/// The sentence that says when something was checked, around its time.
fn checked(at: Timestamp, words: &Words) -> (String, String, String, String) {
    let (before, after) = words.checked.split_once("{}").unwrap_or((words.checked, ""));
    (before.to_owned(), at.to_string(), words.time(at), after.to_owned())
}

/// A page of details; `None` where there is no such thing.
pub(super) fn details(
    shown: &Shown,
    words: &'static Words,
    base: &str,
    wanted: &Wanted,
) -> Option<String> {
    match wanted {
        Wanted::Component(id) => component_page(shown, words, base, id),
        Wanted::Day(date) => day_page(shown, words, base, date),
    }
}

/// A component with its days as a table, the newest first.
fn component_page(shown: &Shown, words: &'static Words, base: &str, id: &str) -> Option<String> {
    let component = shown.view.components().find(|it| it.id.to_string() == id)?;
    let days = component.days.iter().flatten().rev();
    let row = |day: &domain::page::Day| {
        let uptime = day.uptime.map_or_else(|| words.no_data.to_owned(), |it| it.to_string());
        let long = |millis| if millis == 0 { "–".to_owned() } else { words.long(millis) };
        let [down, degraded, planned] = [day.down_ms, day.degraded_ms, day.maintenance_ms];
        vec![words.date(day.begins), uptime, long(down), long(degraded), long(planned)]
    };
    let about = shown.view.history.iter().flat_map(|day| &day.incidents);
    let about = about.filter(|incident| incident.components.contains(&component.name));
    let mut frame = Frame::of(&shown.page, words, base);
    frame.heading = format!("{} · {}", component.name, shown.page.settings.title);
    Some(rendered(&Days {
        heading: format!("{}: {}", component.name, words.state(component.state)),
        frame,
        events: about.map(|it| incident(it, words, base)).collect(),
        columns: vec![words.day, words.up, words.down, words.degraded, words.maintenance],
        rows: days.map(row).collect(),
        ways: Vec::new(),
    }))
}

/// A day with all components, and ways to its neighbours.
fn day_page(shown: &Shown, words: &'static Words, base: &str, date: &str) -> Option<String> {
    let first = shown.view.components().find_map(|component| component.days.as_ref())?;
    let place = first.iter().position(|day| iso_date(day.begins) == date)?;
    let begins = first[place].begins;
    let row = |component: &ComponentView| {
        let day = component.days.as_ref()?.get(place)?;
        let told = bars::title(day, words);
        let told = told.split_once(": ").map_or(told.clone(), |(_, told)| told.to_owned());
        Some(vec![component.name.clone(), told])
    };
    let day = shown.view.history.iter().find(|day| day.begins == begins);
    let events = day.map(|day| events(&day.incidents, &day.maintenances, words, base));
    let way = |word, place: Option<usize>| {
        let day = place.and_then(|place| first.get(place))?;
        Some((word, format!("{base}/day/{}", iso_date(day.begins))))
    };
    let ways = [way(words.earlier, place.checked_sub(1)), way(words.later, Some(place + 1))];
    let mut frame = Frame::of(&shown.page, words, base);
    frame.heading = format!("{} · {}", words.date(begins), shown.page.settings.title);
    Some(rendered(&Days {
        heading: words.date(begins),
        frame,
        events: events.unwrap_or_default(),
        columns: vec![words.components, words.day],
        rows: shown.view.components().filter_map(row).collect(),
        ways: ways.into_iter().flatten().collect(),
    }))
}

fn part<'a>(section: &'a Section, words: &'static Words, base: &str) -> Part<'a> {
    match section {
        Section::Single(it) => Part::Single(component(it, words, base)),
        Section::Group(group) => Part::Group(group_part(group, words, base)),
    }
}

/// A group; one in trouble is open, a healthy one folded with its bars.
fn group_part<'a>(group: &'a GroupView, words: &'static Words, base: &str) -> GroupPart<'a> {
    let is_open = group.state.is_trouble() || group.state == State::Maintenance;
    let label = format!("{}: {}", group.name, words.state(group.state));
    let days = group.days.as_ref();
    GroupPart {
        id: group.id.to_string(),
        name: &group.name,
        state: group.state,
        word: words.state(group.state),
        is_open,
        bars: days.map(|days| bars::bars(days, &label, words, None)),
        components: group.components.iter().map(|it| component(it, words, base)).collect(),
    }
}

fn component<'a>(it: &'a ComponentView, words: &'static Words, base: &str) -> ComponentPart<'a> {
    let uptime = it.uptime.map(|uptime| words.uptime.replace("{}", &uptime.to_string()));
    let told = uptime.as_deref().unwrap_or(words.no_data);
    let label = format!("{}: {told}", it.name);
    let ago = |days: usize| words.days_ago.replace("{}", &days.to_string());
    ComponentPart {
        id: it.id.to_string(),
        name: &it.name,
        about: it.description.as_deref(),
        state: it.state,
        word: words.state(it.state),
        bars: it.days.as_ref().map(|days| bars::bars(days, &label, words, Some(base))),
        uptime,
        ago: [ago(DAYS - 1), ago(DAYS - 31), ago(DAYS - 61)],
    }
}

/// Incidents and maintenance as they are told in one list.
fn events(
    incidents: &[IncidentView],
    maintenances: &[MaintenanceView],
    words: &'static Words,
    base: &str,
) -> Vec<String> {
    let incidents = incidents.iter().map(|it| incident(it, words, base));
    incidents.chain(maintenances.iter().map(|it| maintenance(it, words))).collect()
}

fn incident(it: &IncidentView, words: &'static Words, base: &str) -> String {
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
    let link = Some(format!("{base}/day/{}", iso_date(it.opened_at)));
    rendered(&Event { state, title, link, lines })
}

/// What an incident is, in a sentence.
pub(super) fn incident_title(it: &IncidentView, words: &Words) -> String {
    let about = words.names(&it.components);
    match it.closed {
        None => words.sentence(&Sentence::SomeDown(it.components.clone())),
        Some(_) => words.was_down.replace("{}", &about),
    }
}

/// When an incident was.
pub(super) fn incident_time(it: &IncidentView, words: &Words) -> String {
    match it.closed {
        None => words.since.replace("{}", &words.time(it.opened_at)),
        Some((closed, _)) => {
            let long = closed.since(it.opened_at).as_millis() as u64;
            format!("{} ({})", between(it.opened_at, closed, words), words.long(long))
        }
    }
}

fn maintenance(it: &MaintenanceView, words: &'static Words) -> String {
    let mut lines = vec![between(it.window.from, it.window.to, words)];
    lines.extend(it.description.clone());
    if !it.components.is_empty() {
        lines.push(words.names(&it.components));
    }
    let (state, title) = (State::Maintenance, it.title.clone());
    rendered(&Event { state, title, link: None, lines })
}

/// A stretch of time in words.
pub(super) fn between(from: Timestamp, to: Timestamp, words: &Words) -> String {
    words.from_to.replacen("{}", &words.time(from), 1).replacen("{}", &words.time(to), 1)
}

/// A template with its values; writing to memory does not fail.
pub(super) fn rendered(template: &impl Template) -> String {
    template.render().expect("texts are written to memory")
}
