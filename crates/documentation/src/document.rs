//! A document: an embedded Markdown file below `docs/`, with its address, title and summary.
//! `markdown` parses its content.

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

use super::BASE;
use super::markdown::{events, plain};

/// File names that are served at the address of their folder.
const INDEXES: [&str; 2] = ["/index", "/README"];
/// Line that begins and ends the front matter.
const FENCE: &str = "---\n";
/// Prefix of a line that is not shown, here the note that the file is generated.
const NOTE: &str = "[//]: #";

#[derive(Debug)]
pub(super) struct Document {
    /// Path below `docs/`.
    pub(super) path: &'static str,
    /// Complete text of the file.
    pub(super) source: &'static str,
}

/// The title and the first paragraph of a document, as plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) title: String,
    pub(super) about: String,
}

impl Document {
    /// Returns the address of the page: `/docs/guides/alerts`.
    pub(super) fn address(&self) -> String {
        let path = self.path.strip_suffix(".md").unwrap_or(self.path);
        let folder = INDEXES.iter().find_map(|index| path.strip_suffix(index));
        format!("{BASE}/{}", folder.unwrap_or(path))
    }

    /// Returns the address of the Markdown: `/docs/guides/alerts.md`. Links in it lead to other
    /// Markdown files.
    pub(super) fn markdown_address(&self) -> String {
        format!("{BASE}/{}", self.path)
    }

    /// Returns the text without front matter and notes to editors.
    pub(super) fn text(&self) -> &'static str {
        let inside = self.source.strip_prefix(FENCE);
        let text = inside.and_then(|inside| inside.split_once(&format!("\n{FENCE}")));
        let text = text.map_or(self.source, |(_, text)| text).trim_start();
        let note = text.strip_prefix(NOTE).and_then(|note| note.split_once('\n'));
        note.map_or(text, |(_, text)| text.trim_start())
    }

    /// Returns the title and the first paragraph. It parses only the beginning, because every page
    /// lists all titles.
    pub(super) fn summary(&self) -> Summary {
        let text = self.text();
        let ends = text.match_indices("\n## ").map(|(at, _)| at).chain([text.len()]);
        let mut summaries = ends.map(|end| summary(&text[..end]));
        summaries.find(|summary| !summary.about.is_empty()).unwrap_or_else(|| summary(text))
    }

    /// Returns the title for a list of documents of one kind: `service_http_monitor`, not `…
    /// (Resource)`.
    pub(super) fn name(&self) -> String {
        let title = self.summary().title;
        title.split(" (").next().unwrap_or_default().to_owned()
    }
}

/// Parses the title and the first paragraph at the beginning of a document.
fn summary(head: &str) -> Summary {
    let (mut summary, mut of) = (Summary::default(), None);
    for event in events(head) {
        match (&event, of) {
            (Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }), None) => {
                of = Some(Of::Title);
            }
            (Event::Start(Tag::Paragraph), None) if !summary.title.is_empty() => {
                of = Some(Of::About);
            }
            (Event::End(TagEnd::Heading(_)), Some(Of::Title)) => of = None,
            (Event::End(TagEnd::Paragraph), Some(Of::About)) => break,
            (event, Some(Of::Title)) => summary.title.push_str(plain(event).unwrap_or_default()),
            (event, Some(Of::About)) => summary.about.push_str(plain(event).unwrap_or_default()),
            (_, None) => {}
        }
    }
    summary
}

/// The part of a summary that is being read.
#[derive(Clone, Copy)]
enum Of {
    Title,
    About,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_address_comes_from_its_path() {
        let address = |path| Document { path, source: "" }.address();
        assert_eq!(address("guides/alerts.md"), "/docs/guides/alerts");
        assert_eq!(address("terraform/index.md"), "/docs/terraform");
        assert_eq!(address("reference/README.md"), "/docs/reference");
    }

    #[test]
    fn summary_is_title_and_first_paragraph() {
        let source = "---\npage_title: \"x\"\n---\n\n# `service_x` (Resource)\n\nSends a `GET`\nto [it](y.md). More.\n\nNot this.\n\n## Schema\n\nNor this.\n";
        let document = Document { path: "x.md", source };
        let (title, about) = ("service_x (Resource)", "Sends a GET to it. More.");
        let expected = Summary { title: title.to_owned(), about: about.to_owned() };
        assert_eq!(document.summary(), expected);
        assert_eq!(document.name(), "service_x");
        assert!(document.text().starts_with("# "));
        let source = "[//]: # (Generated.)\n\n# X\n";
        assert_eq!(Document { path: "x.md", source }.text(), "# X\n");
    }
}
