//! Home page: the summary, open events, components with their bars, planned maintenance and the
//! last days.

use askama::Template;
use domain::page::{ComponentView, GroupView, HistoryDay, PageView, Section, State};
use rules::Timestamp;

use super::super::bars::{Bars, DayIndex, DrawnBars};
use super::super::events::{self, Ongoing};
use super::super::i18n::{Strings, iso_date};
use super::super::og_image;
use super::super::snapshot::PageSnapshot;
use super::event::{incident, maintenance, render_events};
use super::layout::Share;
use super::{PageLayout, report};

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    frame: PageLayout<'a>,
    state: State,
    sentence: String,
    checked: Option<CheckedAt>,
    notes: Vec<String>,
    open: Vec<String>,
    sections: Vec<ComponentListItem<'a>>,
    /// Days that the script turns into links.
    day_index: Option<DayIndex<'a>>,
    planned: Vec<String>,
    history: Vec<HistoryPart>,
}

/// The sentence with the time of the last check, split around that time.
struct CheckedAt {
    before: &'static str,
    /// Time for machines.
    iso: String,
    /// Time for people.
    time: String,
    after: &'static str,
}

/// Entry in the list of components.
enum ComponentListItem<'a> {
    Single(ComponentPart<'a>),
    Group(GroupPart<'a>),
}

struct GroupPart<'a> {
    id: String,
    name: &'a str,
    state: State,
    word: &'static str,
    is_expanded: bool,
    bars: Option<DrawnBars<'a>>,
    components: Vec<ComponentPart<'a>>,
}

struct ComponentPart<'a> {
    id: String,
    name: &'a str,
    about: Option<&'a str>,
    state: State,
    word: &'static str,
    bars: Option<DrawnBars<'a>>,
    uptime: Option<String>,
    /// Start of the bars on wide, medium and narrow screens.
    ago: &'a [String; 3],
}

/// A day, or a run of quiet days.
struct HistoryPart {
    first: DisplayDate,
    last: Option<DisplayDate>,
    events: Vec<String>,
}

/// A date for machines and for people.
struct DisplayDate {
    iso: String,
    date: String,
}

/// Initial capacity for a home page, and for each component on it. It avoids copying a large page
/// while it grows.
const ROOM: usize = 40 << 10;
const COMPONENT_ROOM: usize = 4 << 10;

/// Renders the home page.
pub(crate) fn home(
    snapshot: &PageSnapshot,
    words: &'static Strings,
    base: &str,
    url: &str,
) -> String {
    let (title, view) = (&snapshot.page.settings.title, &snapshot.view);
    let mut frame = PageLayout::for_page(&snapshot.page, words, base);
    frame.share = Some(Share {
        url: url.to_owned(),
        sentence: words.summary(&view.overall_status.summary),
        alternative: og_image::alternative(title, view, words),
        width: og_image::WIDTH,
        height: og_image::HEIGHT,
    });
    render_home(snapshot, words, frame)
}

/// Renders the home page for a frame of the dashboard.
pub(crate) fn home_preview(snapshot: &PageSnapshot, words: &'static Strings, base: &str) -> String {
    let frame = PageLayout::for_page(&snapshot.page, words, base);
    render_home(snapshot, words, PageLayout { is_preview: true, is_listed: false, ..frame })
}

fn render_home(
    snapshot: &PageSnapshot,
    words: &'static Strings,
    mut frame: PageLayout<'_>,
) -> String {
    let (view, base) = (&snapshot.view, frame.base);
    let data_age = &view.overall_status.data_age;
    let sentence = words.summary(&view.overall_status.summary);
    let mut notes = Vec::new();
    if snapshot.is_outdated {
        notes.push(words.old.replace("{}", &words.time(view.at)));
    }
    if !data_age.stale.is_empty() {
        notes.push(words.stale(&data_age.stale));
    }
    let bars = Bars::new(view, words, base);
    frame.heading = format!("{sentence} · {}", snapshot.page.settings.title);
    frame.skip = ("components", words.skip);
    let home = HomePage {
        frame,
        state: view.overall_status.state,
        checked: data_age.checked_at.map(|at| CheckedAt::new(at, words)),
        sentence,
        notes,
        open: ongoing(view, words, base),
        sections: view.sections.iter().map(|section| part(section, words, &bars)).collect(),
        day_index: bars.day_index(),
        planned: view.planned.iter().map(|it| maintenance(it, words)).collect(),
        history: history(&view.history, words, base),
    };
    let mut text = String::with_capacity(ROOM + view.components().count() * COMPONENT_ROOM);
    home.render_into(&mut text).expect("texts are written to memory");
    text
}

/// Renders the open reports, each with its incidents, and then the incidents without a report.
fn ongoing(view: &PageView, words: &'static Strings, base: &str) -> Vec<String> {
    let Ongoing { reports, incidents } = events::ongoing(view);
    let cards = reports.iter().map(|(it, explained)| report::card(it, explained, words, base));
    cards.chain(incidents.into_iter().map(|it| incident(it, words, base))).collect()
}

/// Renders the last days, newest first. Ongoing events are above. Consecutive quiet days become one
/// part.
fn history(days: &[HistoryDay], words: &'static Strings, base: &str) -> Vec<HistoryPart> {
    let mut parts: Vec<HistoryPart> = Vec::new();
    for day in days {
        let (day, has_ongoing) = events::past(day);
        let named = DisplayDate { iso: iso_date(day.begins), date: words.date(day.begins) };
        let events = render_events(&day, words, base);
        if events.is_empty() && has_ongoing {
            continue;
        }
        match parts.last_mut() {
            Some(quiet) if quiet.events.is_empty() && events.is_empty() => {
                let newer = std::mem::replace(&mut quiet.first, named);
                quiet.last.get_or_insert(newer);
            }
            _ => parts.push(HistoryPart { first: named, last: None, events }),
        }
    }
    parts
}

impl CheckedAt {
    fn new(at: Timestamp, words: &Strings) -> Self {
        let (before, after) = words.checked.split_once("{}").unwrap_or((words.checked, ""));
        Self { before, iso: at.to_string(), time: words.time(at), after }
    }
}

fn part<'a>(
    section: &'a Section,
    words: &'static Strings,
    bars: &'a Bars<'a>,
) -> ComponentListItem<'a> {
    match section {
        Section::Single(it) => ComponentListItem::Single(component(it, words, bars)),
        Section::Group(group) => ComponentListItem::Group(group_part(group, words, bars)),
    }
}

/// Builds a group. It is expanded if it has problems. A healthy group is collapsed and shows its
/// bars.
fn group_part<'a>(
    group: &'a GroupView,
    words: &'static Strings,
    bars: &'a Bars<'a>,
) -> GroupPart<'a> {
    let label = format!("{}: {}", group.name, words.state(group.state));
    let days = group.days.as_deref();
    GroupPart {
        id: group.id.to_string(),
        name: &group.name,
        state: group.state,
        word: words.state(group.state),
        is_expanded: group.state.is_problem() || group.state == State::Maintenance,
        bars: days.map(|days| bars.group(days, label)),
        components: group.components.iter().map(|it| component(it, words, bars)).collect(),
    }
}

fn component<'a>(
    it: &'a ComponentView,
    words: &'static Strings,
    bars: &'a Bars<'a>,
) -> ComponentPart<'a> {
    let uptime = it.uptime.map(|uptime| words.uptime.replace("{}", &uptime.to_string()));
    let status = uptime.as_deref().unwrap_or(words.no_data);
    let label = format!("{}: {status}", it.name);
    ComponentPart {
        id: it.id.to_string(),
        name: &it.name,
        about: it.description.as_deref(),
        state: it.state,
        word: words.state(it.state),
        bars: it.days.as_deref().map(|days| bars.component(days, label)),
        uptime,
        ago: &bars.ago,
    }
}

#[cfg(test)]
mod tests {
    use domain::history::Span;
    use domain::page::MaintenanceView;
    use rules::MaintenanceId;

    use super::super::super::i18n;
    use super::*;

    fn day(of_november: i64, happened: bool) -> HistoryDay {
        let at = |hour| Timestamp::from_millis(((20_757 + of_november) * 24 + hour) * 3_600_000);
        let maintenance = MaintenanceView {
            id: MaintenanceId::from_bits(1),
            title: "A move".to_owned(),
            description: None,
            window: Span { from: at(1), to: at(2) },
            is_recurring: false,
            created_at: at(0),
            updated_at: at(0),
            is_active: false,
            components: Vec::new(),
        };
        let maintenances = if happened { vec![maintenance] } else { Vec::new() };
        HistoryDay { begins: at(0), reports: Vec::new(), incidents: Vec::new(), maintenances }
    }

    #[test]
    fn quiet_days_are_merged() {
        let days = [(9, false), (8, false), (7, false), (6, true), (5, true), (4, false)];
        let days = days.map(|(of_november, happened)| day(of_november, happened));
        let history = history(&days, i18n::choose(None), "/status/acme");
        let history: Vec<_> = history
            .iter()
            .map(|part| {
                let last = part.last.as_ref().map(|last| last.iso.as_str());
                (part.first.iso.as_str(), last, part.events.len())
            })
            .collect();
        let expected = [
            ("2026-11-07", Some("2026-11-09"), 0),
            ("2026-11-06", None, 1),
            ("2026-11-05", None, 1),
            ("2026-11-04", None, 0),
        ];
        assert_eq!(history, expected);
    }
}
