//! Page of a day with all components.

use askama::Template;
use domain::page::ComponentView;

use super::super::bars;
use super::super::i18n::{Strings, iso_date};
use super::super::snapshot::PageSnapshot;
use super::event::render_events;
use super::{PageLayout, render};

#[derive(Template)]
#[template(path = "days.html")]
struct DayPage<'a> {
    frame: PageLayout<'a>,
    heading: String,
    events: Vec<String>,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    links: Vec<(&'static str, String)>,
}

/// Returns the index of a day in the bars, or `None` if it is not among them.
pub(crate) fn day_position(snapshot: &PageSnapshot, date: &str) -> Option<usize> {
    let days = snapshot.view.components().find_map(|component| component.days.as_ref())?;
    days.iter().position(|day| iso_date(day.begins) == date)
}

/// Renders a day with all components and links to its neighbours.
pub(crate) fn day_page(
    snapshot: &PageSnapshot,
    words: &'static Strings,
    base: &str,
    position: usize,
) -> String {
    let first = snapshot.view.components().find_map(|component| component.days.as_deref());
    let first = first.unwrap_or_default();
    let begins = first.get(position).map_or(snapshot.view.at, |day| day.begins);
    let row = |component: &ComponentView| {
        let day = component.days.as_ref()?.get(position)?;
        let description = bars::describe_day(day, words);
        let description = description
            .split_once(": ")
            .map_or(description.clone(), |(_, description)| description.to_owned());
        Some(vec![component.name.clone(), description])
    };
    let day = snapshot.view.history.iter().find(|day| day.begins == begins);
    let events = day.map(|day| render_events(day, words, base));
    let link = |word, position: Option<usize>| {
        let day = position.and_then(|position| first.get(position))?;
        Some((word, format!("{base}/day/{}", iso_date(day.begins))))
    };
    let links =
        [link(words.earlier, position.checked_sub(1)), link(words.later, Some(position + 1))];
    let mut frame = PageLayout::for_page(&snapshot.page, words, base);
    frame.heading = format!("{} · {}", words.date(begins), snapshot.page.settings.title);
    render(&DayPage {
        heading: words.date(begins),
        frame,
        events: events.unwrap_or_default(),
        columns: vec![words.components, words.day],
        rows: snapshot.view.components().filter_map(row).collect(),
        links: links.into_iter().flatten().collect(),
    })
}
