//! Renders a document below its title as HTML. This module replaces the renderer of the Markdown
//! library to control links, anchors, tables and code.
//!
//! Documents are part of the program, so their HTML is trusted.

mod code;
mod table;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, LinkType, Tag, TagEnd};

use self::table::TableState;
use super::blocks::{Block, blocks, is_contents};
use super::document::Document;
use super::escape::escape;
use super::fence::Fence;
use super::links::{LinkTarget, resolve};
use super::markdown::{Heading, events, headings, plain};

/// The rendered content of a document.
#[derive(Debug)]
pub(super) struct RenderedDocument {
    pub(super) html: String,
    pub(super) headings: Vec<Heading>,
}

/// Renders the document. Examples call this server at `origin`.
pub(super) fn body(document: &Document, origin: Option<&str>) -> RenderedDocument {
    let events = events(document.text());
    let headings = headings(&events);
    let mut writer = Writer {
        out: String::with_capacity(document.source.len() * 2),
        path: document.path,
        origin,
        headings: &headings,
        open: Vec::new(),
        deferred: None,
        table: None,
        tabs: 0,
    };
    for block in blocks(&events) {
        match block {
            Block::Any(range) if is_contents(&events[range.clone()]) => {}
            Block::Any(range) => {
                for at in range {
                    writer.write(at, &events[at]);
                }
            }
            Block::Alternatives(samples) => writer.alternatives(&samples, &events),
        }
    }
    RenderedDocument { html: writer.out, headings }
}

struct Writer<'a> {
    out: String,
    /// Path of the document below `docs/`.
    path: &'a str,
    origin: Option<&'a str>,
    headings: &'a [Heading],
    /// Closing tag of each open element.
    open: Vec<Cow<'static, str>>,
    /// Element that is written once its content is complete.
    deferred: Option<DeferredElement>,
    table: Option<TableState>,
    /// Number of examples in several languages so far.
    tabs: usize,
}

struct DeferredElement {
    kind: DeferredKind,
    text: String,
}

/// The kind of a deferred element.
enum DeferredKind {
    Code(Fence),
    Html,
    /// Image with its address.
    Image(String),
}

impl Writer<'_> {
    fn write(&mut self, at: usize, event: &Event<'_>) {
        if let Some(held) = &mut self.deferred {
            if let Event::Html(text) = event {
                held.text.push_str(text);
            } else if let Some(text) = plain(event) {
                held.text.push_str(text);
            } else if let Event::End(end) = event {
                self.write_deferred(*end);
            }
            return;
        }
        match event {
            Event::Start(tag) => self.begin(at, tag),
            Event::End(end) => self.end(*end),
            Event::Code(text) => {
                self.out.push_str("<code>");
                escape(&mut self.out, text);
                self.out.push_str("</code>");
            }
            Event::Html(html) | Event::InlineHtml(html) => self.write_html(html),
            Event::Text(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => escape(&mut self.out, text),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => {
                self.out.push_str(if *is_done { "✓ " } else { "○ " });
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list is the library's, and what is not named here is not asked of it"
    )]
    fn begin(&mut self, at: usize, tag: &Tag<'_>) {
        let (begin, end): (Cow<'_, str>, &'static str) = match tag {
            Tag::Heading { .. } => return self.heading(at),
            Tag::CodeBlock(kind) => {
                let fence = match kind {
                    CodeBlockKind::Fenced(fence) => fence.as_ref(),
                    CodeBlockKind::Indented => "",
                };
                return self.defer(DeferredKind::Code(Fence::parse(fence)));
            }
            Tag::HtmlBlock => return self.defer(DeferredKind::Html),
            Tag::Image { dest_url, .. } => {
                return self.defer(DeferredKind::Image(self.source(dest_url)));
            }
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => {
                self.link(&format!("mailto:{dest_url}"))
            }
            Tag::Link { dest_url, .. } => self.link(dest_url),
            Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell => {
                return self.table(tag);
            }
            Tag::Paragraph => ("<p>".into(), "</p>\n"),
            Tag::BlockQuote(kind) => (quote(*kind), "</blockquote>\n"),
            Tag::List(None) => ("<ul>\n".into(), "</ul>\n"),
            Tag::List(Some(1)) => ("<ol>\n".into(), "</ol>\n"),
            Tag::List(Some(first)) => (format!("<ol start=\"{first}\">\n").into(), "</ol>\n"),
            Tag::Item => ("<li>".into(), "</li>\n"),
            Tag::Emphasis => ("<em>".into(), "</em>"),
            Tag::Strong => ("<strong>".into(), "</strong>"),
            Tag::Strikethrough => ("<del>".into(), "</del>"),
            _ => ("".into(), ""),
        };
        self.out.push_str(&begin);
        self.open.push(end.into());
    }

    fn end(&mut self, end: TagEnd) {
        let is_table =
            matches!(end, TagEnd::Table | TagEnd::TableHead | TagEnd::TableRow | TagEnd::TableCell);
        if is_table {
            self.table_end(end);
        } else if let Some(end) = self.open.pop() {
            self.out.push_str(&end);
        }
    }

    /// Writes a heading with its anchor. All headings except the title end with a link to themselves.
    fn heading(&mut self, at: usize) {
        let heading = self.headings.iter().find(|heading| heading.at == at);
        let Heading { level, anchor, .. } = heading.expect("every heading was read before");
        let mut id = String::new();
        escape(&mut id, anchor);
        let _ = write!(self.out, "<h{level} id=\"{id}\">");
        let link =
            format!(" <a class=\"to\" href=\"#{id}\" aria-label=\"Link to this section\">#</a>");
        let link = if *level == 1 { "" } else { &link };
        self.open.push(format!("{link}</h{level}>\n").into());
    }

    /// Returns the opening and the closing tag of a link. A link to a file that is not served becomes
    /// plain text.
    fn link(&self, written: &str) -> (Cow<'static, str>, &'static str) {
        let mut href = String::new();
        match resolve(self.path, written) {
            LinkTarget::Internal(place) => {
                escape(&mut href, &place);
                (format!("<a href=\"{href}\">").into(), "</a>")
            }
            LinkTarget::External(url) => {
                escape(&mut href, &url);
                (format!("<a href=\"{href}\" rel=\"noopener\">").into(), "</a>")
            }
            LinkTarget::NotServed => ("".into(), ""),
        }
    }

    /// Returns the address of an image. Images of other sites are not shown.
    fn source(&self, written: &str) -> String {
        match resolve(self.path, written) {
            LinkTarget::Internal(place) => place,
            LinkTarget::External(_) | LinkTarget::NotServed => String::new(),
        }
    }

    fn defer(&mut self, what: DeferredKind) {
        self.deferred = Some(DeferredElement { kind: what, text: String::new() });
    }

    /// Writes the deferred element if this event ends it.
    fn write_deferred(&mut self, end: TagEnd) {
        if !matches!(end, TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Image) {
            return;
        }
        let Some(DeferredElement { kind: what, text }) = self.deferred.take() else { return };
        match what {
            DeferredKind::Code(fence) => self.code(fence, &text),
            DeferredKind::Html => self.write_html(&CowStr::from(text)),
            DeferredKind::Image(place) if place.is_empty() => escape(&mut self.out, &text),
            DeferredKind::Image(place) => {
                self.out.push_str("<img src=\"");
                escape(&mut self.out, &place);
                self.out.push_str("\" alt=\"");
                escape(&mut self.out, &text);
                self.out.push_str("\" loading=\"lazy\">");
            }
        }
    }

    /// Writes HTML of the document, without comments to editors.
    fn write_html(&mut self, html: &CowStr<'_>) {
        if !html.trim_start().starts_with("<!--") {
            self.out.push_str(html);
        }
    }
}

/// Returns the opening tag of a quotation, or of an alert such as `[!NOTE]` on GitHub.
fn quote(kind: Option<BlockQuoteKind>) -> Cow<'static, str> {
    let word = match kind {
        None => return "<blockquote>\n".into(),
        Some(BlockQuoteKind::Note) => "Note",
        Some(BlockQuoteKind::Tip) => "Tip",
        Some(BlockQuoteKind::Important) => "Important",
        Some(BlockQuoteKind::Warning) => "Warning",
        Some(BlockQuoteKind::Caution) => "Caution",
    };
    format!("<blockquote class=\"note\">\n<p class=\"kind\">{word}</p>\n").into()
}
