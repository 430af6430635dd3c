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
struct HistoryPage<'a> {
    frame: PageLayout<'a>,
    heading: String,
    days: Vec<DayEvents>,
    /// Notice of truncation.
    truncated: Option<&'static str>,
    links: Vec<(&'static str, String, String)>,
}

struct DayEvents {
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
    let link = |word, month: Option<Month>| {
        let month = month?;
        Some((word, format!("{base}/history/{month}"), words.month(month.span().from)))
    };
    let links = [link(words.earlier, it.earlier), link(words.later, it.later)];
    let day = |day: &domain::page::HistoryDay| DayEvents {
        iso: iso_date(day.begins),
        date: words.date(day.begins),
        events: render_events(day, words, base),
    };
    render(&HistoryPage {
        heading,
        days: it.days.iter().map(day).collect(),
        truncated: it.is_cut.then_some(words.detail.truncated),
        links: links.into_iter().flatten().collect(),
        frame,
    })
}
