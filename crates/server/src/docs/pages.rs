//! Renders the pages of the documentation: the first page, documents, search results and errors. It
//! also renders the root of the server.

use std::fmt::Write as _;

use askama::Template;

use super::document::Document;
use super::frame::{Entry, Frame};
use super::html::body;
use super::list::{self, CHAPTERS};
use super::reading::Heading;
use super::search::{Found, QUERY_CHARS_MAX};
use super::{BASE, NAME, SENTENCE};

/// Maximum number of headings in the contents of a document. A document with more shows only the upper
/// levels.
const CONTENTS_MAX: usize = 28;

#[derive(Template)]
#[template(path = "docs/home.html")]
struct Home {
    frame: Frame,
    sentence: &'static str,
}

#[derive(Template)]
#[template(path = "docs/document.html")]
struct Shown<'a> {
    frame: Frame,
    body: &'a str,
    chapter: &'static str,
    chapter_anchor: String,
    name: String,
    contents: Vec<&'a Heading>,
    before: Option<Entry>,
    after: Option<Entry>,
}

#[derive(Template)]
#[template(path = "docs/search.html")]
struct Results<'a> {
    frame: Frame,
    found: &'a Found,
}

#[derive(Template)]
#[template(path = "docs/missing.html")]
struct Missing {
    frame: Frame,
}

#[derive(Template)]
#[template(path = "docs/front.html")]
struct Front {
    frame: Frame,
    sentence: &'static str,
    first: Option<Entry>,
}

/// Renders the first page, which lists all chapters.
pub(super) fn home() -> String {
    let frame = Frame::around(&format!("{NAME} documentation"), SENTENCE).searching("");
    rendered(&Home { frame, sentence: SENTENCE })
}

/// Renders a document with its contents and links to its neighbours.
pub(super) fn document(document: &Document, origin: Option<&str>) -> String {
    let body = body(document, origin);
    let all: Vec<&Document> = list::documents().collect();
    let at = all.iter().position(|it| it.path == document.path).expect("it is in the list");
    let neighbour = |at: Option<usize>| Some(Entry::of(all.get(at?)?));
    let chapter = CHAPTERS.iter().find(|it| it.documents.iter().any(|it| it.path == document.path));
    let chapter = chapter.expect("it is in the list").title;
    rendered(&Shown {
        frame: Frame::around_document(document),
        contents: contents(&body.headings),
        body: &body.html,
        chapter,
        chapter_anchor: super::frame::anchor(chapter),
        name: document.name(),
        before: neighbour(at.checked_sub(1)),
        after: neighbour(at.checked_add(1)),
    })
}

/// Returns the headings for the contents of a document.
fn contents(headings: &[Heading]) -> Vec<&Heading> {
    let upto = |level| headings.iter().filter(move |it| (2..=level).contains(&it.level));
    if upto(3).count() > CONTENTS_MAX { upto(2).collect() } else { upto(3).collect() }
}

/// Renders the search results.
pub(super) fn results(found: &Found) -> String {
    let title = format!("Search: {}", found.query);
    let frame = Frame { is_listed: false, ..Frame::around(&title, SENTENCE) };
    rendered(&Results { frame: frame.searching(&found.query), found })
}

/// Renders the page for an unknown address, which offers a search for that address.
pub(super) fn missing(asked: &str) -> String {
    let frame = Frame { is_listed: false, ..Frame::around("Not found", SENTENCE) };
    let last = asked.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = last.strip_suffix(".md").unwrap_or(last).replace(['-', '_'], " ");
    let last: String = last.chars().take(QUERY_CHARS_MAX).collect();
    rendered(&Missing { frame: frame.searching(&last) })
}

/// Renders the root of the server for browsers.
pub(super) fn front() -> String {
    let first = list::documents().find(|it| it.path == FIRST).map(Entry::of);
    rendered(&Front {
        frame: Frame::around(NAME, SENTENCE).searching(""),
        sentence: SENTENCE,
        first,
    })
}

/// Document for new users.
const FIRST: &str = "guides/first-monitor.md";

/// Renders the root of the server as text for programs.
pub(super) fn front_text(origin: &str) -> String {
    format!(
        "{NAME}: {SENTENCE}\n\n\
         Documentation   {origin}{BASE} (all pages, in Markdown: {origin}{BASE}/llms.txt)\n\
         Who am I        {origin}/v1/whoami\n\
         Calls           POST {origin}/rpc/monitor.v1.MonitorService/ListMonitors\n\
         OpenAPI         {origin}/openapi.json\n\
         Health          {origin}/healthz, {origin}/readyz, {origin}/metrics\n"
    )
}

/// Renders the list of all documents as Markdown for programs (<https://llmstxt.org>).
pub(super) fn markdown_list(origin: &str) -> String {
    let mut out = format!("# {NAME}\n\n> {SENTENCE}\n");
    for chapter in CHAPTERS {
        let _ = write!(out, "\n## {}\n\n", chapter.title);
        for document in chapter.documents {
            let (summary, address) = (document.summary(), document.markdown_address());
            let _ = writeln!(out, "- [{}]({origin}{address}): {}", summary.title, summary.about);
        }
    }
    out
}

/// Renders a template. Writing to memory does not fail.
fn rendered(template: &impl Template) -> String {
    template.render().expect("texts are written to memory")
}
