//! What is around every page of the documentation: the navigation, the search, style and script.

use super::document::Document;
use super::list::CHAPTERS;
use super::search::QUERY_CHARS_MAX;
use super::style::STYLE;

/// Chapters that are open where no document is shown.
const OPEN: usize = 2;
/// What the file is called that begins a chapter, and what that is called in its list.
const INDEX: &str = "/README.md";
const OVERVIEW: &str = "Overview";

/// What is around a page.
#[derive(Debug)]
pub(super) struct Frame {
    /// As tabs and bookmarks show it.
    pub(super) title: String,
    /// What it is about, for search engines.
    pub(super) about: String,
    pub(super) chapters: Vec<Chapter>,
    /// What was searched for.
    pub(super) query: String,
    /// Whether the search stands at the top; else the page has one of its own.
    pub(super) searches_at_top: bool,
    /// Whether search engines may list it.
    pub(super) is_listed: bool,
    /// The same as Markdown, where there is such.
    pub(super) markdown: Option<String>,
    pub(super) style: &'static str,
    pub(super) query_max: usize,
}

/// A chapter of the navigation.
#[derive(Debug)]
pub(super) struct Chapter {
    pub(super) title: &'static str,
    /// Its anchor on the first page.
    pub(super) anchor: String,
    pub(super) documents: Vec<Entry>,
    /// Whether its documents are seen.
    pub(super) is_open: bool,
}

/// A document in a list.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) address: String,
    /// Whether it is what is shown.
    pub(super) is_here: bool,
}

impl Frame {
    /// Around a page that is no document.
    pub(super) fn around(title: &str, about: &str) -> Self {
        Self {
            title: title.to_owned(),
            about: about.to_owned(),
            chapters: chapters(None),
            query: String::new(),
            searches_at_top: true,
            is_listed: true,
            markdown: None,
            style: STYLE,
            query_max: QUERY_CHARS_MAX,
        }
    }

    /// Around a document.
    pub(super) fn around_document(document: &Document) -> Self {
        let summary = document.summary();
        Self {
            chapters: chapters(Some(document)),
            markdown: Some(document.markdown_address()),
            ..Self::around(&summary.title, &summary.about)
        }
    }

    /// The same with the search in the page itself.
    pub(super) fn searching(self, query: &str) -> Self {
        Self { query: query.to_owned(), searches_at_top: false, ..self }
    }
}

impl Entry {
    /// A document as its neighbours name it.
    pub(super) fn of(document: &Document) -> Self {
        Self {
            name: document.name(),
            about: document.summary().about,
            address: document.address(),
            is_here: false,
        }
    }

    /// The same in the list of its chapter.
    fn in_chapter(document: &Document, here: Option<&Document>) -> Self {
        let entry = Self::of(document);
        let name = if document.path.ends_with(INDEX) { OVERVIEW.to_owned() } else { entry.name };
        Self { name, is_here: here.is_some_and(|here| here.path == document.path), ..entry }
    }
}

/// The navigation as it is on the page of a document.
fn chapters(here: Option<&Document>) -> Vec<Chapter> {
    let chapter = |(at, chapter): (usize, &super::list::Chapter)| {
        let documents: Vec<Entry> =
            chapter.documents.iter().map(|document| Entry::in_chapter(document, here)).collect();
        Chapter {
            title: chapter.title,
            anchor: anchor(chapter.title),
            is_open: documents.iter().any(|entry| entry.is_here) || here.is_none() && at < OPEN,
            documents,
        }
    };
    CHAPTERS.iter().enumerate().map(chapter).collect()
}

/// The anchor of a chapter on the first page.
pub(super) fn anchor(title: &str) -> String {
    title.to_lowercase().replace(' ', "-")
}
