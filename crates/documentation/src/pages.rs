//! Renders the pages of the documentation: the first page, documents, search results and errors. It
//! also renders the root of the server.

use std::fmt::Write as _;

use askama::Template;

use super::catalog::{self, CHAPTERS};
use super::document::Document;
use super::html::body;
use super::layout::{DocsLayout, NavEntry};
use super::markdown::Heading;
use super::search::{QUERY_CHARS_MAX, SearchResults};
use super::{NAME, SENTENCE};

/// Maximum number of headings in the contents of a document. A document with more shows only the upper
/// levels.
const CONTENTS_MAX: usize = 28;

#[derive(Template)]
#[template(path = "home.html")]
struct DocsHome {
    frame: DocsLayout,
    sentence: &'static str,
}

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage<'a> {
    frame: DocsLayout,
    body: &'a str,
    chapter: &'static str,
    chapter_anchor: String,
    name: String,
    contents: Vec<&'a Heading>,
    before: Option<NavEntry>,
    after: Option<NavEntry>,
}

#[derive(Template)]
#[template(path = "search.html")]
struct Results<'a> {
    frame: DocsLayout,
    found: &'a SearchResults,
}

#[derive(Template)]
#[template(path = "missing.html")]
struct Missing {
    frame: DocsLayout,
}

/// Renders the first page, which lists all chapters.
pub(super) fn home() -> String {
    let frame = DocsLayout::for_page(&format!("{NAME} documentation"), SENTENCE).with_query("");
    render(&DocsHome { frame, sentence: SENTENCE })
}

/// Renders a document with its contents and links to its neighbours.
pub(super) fn document(document: &Document, origin: Option<&str>) -> String {
    let body = body(document, origin);
    let all: Vec<&Document> = catalog::documents().collect();
    let at = all
        .iter()
        .position(|it| it.path == document.path)
        .expect("all documents are in the catalog");
    let neighbour = |at: Option<usize>| Some(NavEntry::from_document(all.get(at?)?));
    let chapter = CHAPTERS.iter().find(|it| it.documents.iter().any(|it| it.path == document.path));
    let chapter = chapter.expect("all documents are in the catalog").title;
    render(&DocumentPage {
        frame: DocsLayout::for_document(document),
        contents: contents(&body.headings),
        body: &body.html,
        chapter,
        chapter_anchor: super::layout::anchor(chapter),
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
pub(super) fn results(found: &SearchResults) -> String {
    let title = format!("Search: {}", found.query);
    let frame = DocsLayout { is_listed: false, ..DocsLayout::for_page(&title, SENTENCE) };
    render(&Results { frame: frame.with_query(&found.query), found })
}

/// Renders the page for an unknown address, which offers a search for that address.
pub(super) fn not_found(path: &str) -> String {
    let frame = DocsLayout { is_listed: false, ..DocsLayout::for_page("Not found", SENTENCE) };
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = last.strip_suffix(".md").unwrap_or(last).replace(['-', '_'], " ");
    let last: String = last.chars().take(QUERY_CHARS_MAX).collect();
    render(&Missing { frame: frame.with_query(&last) })
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
fn render(template: &impl Template) -> String {
    template.render().expect("texts are written to memory")
}
