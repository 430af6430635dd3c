//! A document as HTML: what stands below its title. Written here and not by the library, because links,
//! anchors, tables and code are ours. Documents are part of the program, so HTML in them is taken as it is.

mod code;
mod table;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, LinkType, Tag, TagEnd};

use self::table::Table;
use super::blocks::{Block, blocks, is_contents};
use super::colour::Fence;
use super::document::Document;
use super::links::{Target, resolve};
use super::reading::{Heading, events, headings, plain};

/// What is shown of a document.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) html: String,
    pub(super) headings: Vec<Heading>,
}

/// The whole document. `origin` is where this server is reached, which examples then call.
pub(super) fn body(document: &Document, origin: Option<&str>) -> Body {
    let events = events(document.text());
    let headings = headings(&events);
    let mut writer = Writer {
        out: String::with_capacity(document.source.len() * 2),
        path: document.path,
        origin,
        headings: &headings,
        open: Vec::new(),
        held: None,
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
    Body { html: writer.out, headings }
}

/// Text, wherever it stands.
pub(super) fn escape(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
}

struct Writer<'a> {
    out: String,
    /// Of the document, below `docs/`.
    path: &'a str,
    origin: Option<&'a str>,
    headings: &'a [Heading],
    /// What closes each element that is open.
    open: Vec<Cow<'static, str>>,
    /// What is written only once all of it is known.
    held: Option<Held>,
    table: Option<Table>,
    /// How many times something was shown in several languages.
    tabs: usize,
}

struct Held {
    what: What,
    text: String,
}

/// What is held back.
enum What {
    Code(Fence),
    Html,
    /// With where it is.
    Image(String),
}

impl Writer<'_> {
    fn write(&mut self, at: usize, event: &Event<'_>) {
        if let Some(held) = &mut self.held {
            if let Event::Html(text) = event {
                held.text.push_str(text);
            } else if let Some(text) = plain(event) {
                held.text.push_str(text);
            } else if let Event::End(end) = event {
                self.release(*end);
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
            Event::Html(html) | Event::InlineHtml(html) => self.own_html(html),
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
                return self.hold(What::Code(Fence::parse(fence)));
            }
            Tag::HtmlBlock => return self.hold(What::Html),
            Tag::Image { dest_url, .. } => return self.hold(What::Image(self.source(dest_url))),
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

    /// A heading with its anchor, and behind all but the title a link to it.
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

    /// What begins and ends a link; one that leads nowhere here is its text.
    fn link(&self, written: &str) -> (Cow<'static, str>, &'static str) {
        let mut href = String::new();
        match resolve(self.path, written) {
            Target::Here(place) => {
                escape(&mut href, &place);
                (format!("<a href=\"{href}\">").into(), "</a>")
            }
            Target::Outside(url) => {
                escape(&mut href, &url);
                (format!("<a href=\"{href}\" rel=\"noopener\">").into(), "</a>")
            }
            Target::Nowhere => ("".into(), ""),
        }
    }

    /// Where a picture is; none is shown that is somebody else's.
    fn source(&self, written: &str) -> String {
        match resolve(self.path, written) {
            Target::Here(place) => place,
            Target::Outside(_) | Target::Nowhere => String::new(),
        }
    }

    fn hold(&mut self, what: What) {
        self.held = Some(Held { what, text: String::new() });
    }

    /// Writes what was held back, where this is its end.
    fn release(&mut self, end: TagEnd) {
        if !matches!(end, TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Image) {
            return;
        }
        let Some(Held { what, text }) = self.held.take() else { return };
        match what {
            What::Code(fence) => self.code(fence, &text),
            What::Html => self.own_html(&CowStr::from(text)),
            What::Image(place) if place.is_empty() => escape(&mut self.out, &text),
            What::Image(place) => {
                self.out.push_str("<img src=\"");
                escape(&mut self.out, &place);
                self.out.push_str("\" alt=\"");
                escape(&mut self.out, &text);
                self.out.push_str("\" loading=\"lazy\">");
            }
        }
    }

    /// HTML of the document, without what is said to those who edit it.
    fn own_html(&mut self, html: &CowStr<'_>) {
        if !html.trim_start().starts_with("<!--") {
            self.out.push_str(html);
        }
    }
}

/// A quotation, or what GitHub makes of one that begins with `[!NOTE]`.
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
