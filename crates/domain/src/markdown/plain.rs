//! Renders Markdown as plain text: blank lines between paragraphs, markers for list items, and the
//! URL after the text of a link.

use std::fmt::Write as _;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{DEPTH_MAX, parser, target};

/// Renders the text without HTML, and without line breaks at either end.
pub fn plain(markdown: &str) -> String {
    let mut writer = PlainTextWriter::default();
    for event in parser(markdown) {
        writer.write(event);
    }
    writer.out.trim_matches('\n').to_owned()
}

#[derive(Default)]
struct PlainTextWriter {
    out: String,
    /// For each open list the number of its next item, if it is numbered.
    lists: Vec<Option<u64>>,
    /// For each open link the start of its text, and its URL.
    links: Vec<(usize, Option<String>)>,
    /// Whether a list marker was just written; no blank line follows it.
    is_after_mark: bool,
}

impl PlainTextWriter {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text)
            | Event::Code(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.gap();
                self.text("---");
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library defines the list, and tags not named here are omitted"
    )]
    fn begin(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock | Tag::Heading { .. } | Tag::CodeBlock(_) => self.gap(),
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(*first);
            }
            Tag::Item => self.mark(),
            Tag::Link { link_type, dest_url, .. } => {
                self.links.push((self.out.len(), target(*link_type, dest_url)));
            }
            _ => {}
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library defines the list, and tags not named here are omitted"
    )]
    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Link => {
                let Some((begins, Some(url))) = self.links.pop() else { return };
                let shows_url =
                    self.out.get(begins..).is_some_and(|text| url.contains(text.trim()));
                if !shows_url || self.out.len() == begins {
                    self.text(&format!(" ({url})"));
                }
            }
            _ => {}
        }
    }

    /// Begins an item of the innermost list.
    fn mark(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        let depth = self.lists.len().clamp(1, DEPTH_MAX);
        self.out.push_str(&"  ".repeat(depth - 1));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let _ = write!(self.out, "{number}. ");
                *number = number.saturating_add(1);
            }
            Some(None) | None => self.out.push_str("- "),
        }
        self.is_after_mark = true;
    }

    /// Adds a blank line before the next block.
    fn gap(&mut self) {
        if std::mem::take(&mut self.is_after_mark) || self.out.is_empty() {
            return;
        }
        while !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn text(&mut self, text: &str) {
        self.is_after_mark = false;
        self.out.push_str(text);
    }
}
