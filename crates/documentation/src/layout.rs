//! The layout around every page of the documentation: navigation, search, style and script.

use super::assets::STYLE;
use super::catalog::CHAPTERS;
use super::document::Document;
use super::search::QUERY_CHARS_MAX;

/// Number of chapters that are open on pages that show no document.
const OPEN: usize = 2;
/// File that begins a chapter, and its name in the list of the chapter.
const INDEX: &str = "/README.md";
const OVERVIEW: &str = "Overview";

/// The layout around a page.
#[derive(Debug)]
pub(super) struct DocsLayout {
    /// Title in tabs and bookmarks.
    pub(super) title: String,
    /// Description for search engines.
    pub(super) about: String,
    pub(super) chapters: Vec<NavChapter>,
    /// Search query.
    pub(super) query: String,
    /// Whether the search field is at the top. Otherwise the page has its own.
    pub(super) searches_at_top: bool,
    /// Whether search engines may list the page.
    pub(super) is_listed: bool,
    /// Address of the same page as Markdown, if it exists.
    pub(super) markdown: Option<String>,
    pub(super) style: &'static str,
    pub(super) query_max: usize,
}

#[derive(Debug)]
pub(super) struct NavChapter {
    pub(super) title: &'static str,
    /// Anchor on the first page.
    pub(super) anchor: String,
    pub(super) documents: Vec<NavEntry>,
    /// Whether its documents are visible.
    pub(super) is_open: bool,
}

#[derive(Clone, Debug)]
pub(super) struct NavEntry {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) address: String,
    /// Whether this document is the current page.
    pub(super) is_current: bool,
}

impl DocsLayout {
    /// Returns the layout of a page that is not a document.
    pub(super) fn for_page(title: &str, about: &str) -> Self {
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

    /// Returns the layout of a document.
    pub(super) fn for_document(document: &Document) -> Self {
        let summary = document.summary();
        Self {
            chapters: chapters(Some(document)),
            markdown: Some(document.markdown_address()),
            ..Self::for_page(&summary.title, &summary.about)
        }
    }

    /// Moves the search field from the top into the page.
    pub(super) fn with_query(self, query: &str) -> Self {
        Self { query: query.to_owned(), searches_at_top: false, ..self }
    }
}

impl NavEntry {
    /// Returns the entry of a document with its name and summary.
    pub(super) fn from_document(document: &Document) -> Self {
        Self {
            name: document.name(),
            about: document.summary().about,
            address: document.address(),
            is_current: false,
        }
    }

    /// Returns the entry of a document in the list of its chapter.
    fn in_chapter(document: &Document, here: Option<&Document>) -> Self {
        let entry = Self::from_document(document);
        let name = if document.path.ends_with(INDEX) { OVERVIEW.to_owned() } else { entry.name };
        Self { name, is_current: here.is_some_and(|here| here.path == document.path), ..entry }
    }
}

/// Returns the navigation on the page of a document.
fn chapters(here: Option<&Document>) -> Vec<NavChapter> {
    let chapter = |(at, chapter): (usize, &super::catalog::Chapter)| {
        let documents: Vec<NavEntry> =
            chapter.documents.iter().map(|document| NavEntry::in_chapter(document, here)).collect();
        NavChapter {
            title: chapter.title,
            anchor: anchor(chapter.title),
            is_open: documents.iter().any(|entry| entry.is_current) || here.is_none() && at < OPEN,
            documents,
        }
    };
    CHAPTERS.iter().enumerate().map(chapter).collect()
}

/// Returns the anchor of a chapter on the first page.
pub(super) fn anchor(title: &str) -> String {
    title.to_lowercase().replace(' ', "-")
}
