//! The history as HTML, one month per page: days with events, and links to the months before and
//! after.

use askama::Template;
use domain::page::{Month, MonthView};

use super::super::i18n::{Strings, iso_date};
use super::super::snapshot::PageSnapshot;
use super::event::render_events;
use super::{PageLayout, render};

#[derive(Template)]
#[template(path = "history.html")]
struct History<'a> {
    frame: PageLayout<'a>,
    heading: String,
    days: Vec<Day>,
    /// Notice of truncation.
    cut: Option<&'static str>,
    links: Vec<(&'static str, String, String)>,
}

struct Day {
    iso: String,
    date: String,
    events: Vec<String>,
}

pub(crate) fn history_page(
    snapshot: &PageSnapshot,
    words: &'static Strings,
    base: &str,
    it: &MonthView,
) -> String {
    let heading = words.month(it.month.span().from);
    let mut frame = PageLayout::for_page(&snapshot.page, words, base);
    frame.heading = format!("{heading} · {}", snapshot.page.settings.title);
    let way = |word, month: Option<Month>| {
        let month = month?;
        Some((word, format!("{base}/history/{month}"), words.month(month.span().from)))
    };
    let ways = [way(words.earlier, it.earlier), way(words.later, it.later)];
    let day = |day: &domain::page::HistoryDay| Day {
        iso: iso_date(day.begins),
        date: words.date(day.begins),
        events: render_events(day, words, base),
    };
    render(&History {
        heading,
        days: it.days.iter().map(day).collect(),
        cut: it.is_cut.then_some(words.depth.truncated),
        links: ways.into_iter().flatten().collect(),
        frame,
    })
}
