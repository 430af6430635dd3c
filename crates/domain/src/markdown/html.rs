//! Renders Markdown as HTML with a few fixed tags and everything else escaped. Raw HTML becomes
//! text, an image its description, and a heading a bold paragraph, because the page has its own
//! headings.

use pulldown_cmark::{Event, Tag};

use super::{DEPTH_MAX, parser, target};

/// Renders the text as HTML that is safe on any page.
pub fn html(markdown: &str) -> String {
    let mut writer =
        HtmlWriter { out: String::with_capacity(markdown.len() * 2), open: Vec::new() };
    for event in parser(markdown) {
        writer.write(event);
    }
    writer.out
}

struct HtmlWriter {
    out: String,
    /// The closing tag of each open element; empty if its tag was omitted.
    open: Vec<&'static str>,
}

impl HtmlWriter {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(&tag),
            Event::End(_) => {
                let end = self.open.pop();
                self.out.push_str(end.unwrap_or_default());
            }
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.text(&text);
                self.out.push_str("</code>");
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library defines the list, and tags not named here are omitted"
    )]
    fn begin(&mut self, tag: &Tag<'_>) {
        let (begin, end) = match tag {
            Tag::Link { link_type, dest_url, .. } => match target(*link_type, dest_url) {
                Some(url) if !self.open.contains(&"</a>") => {
                    self.out.push_str("<a href=\"");
                    self.text(&url);
                    ("\" rel=\"nofollow noopener\">", "</a>")
                }
                _ => ("", ""),
            },
            Tag::Paragraph | Tag::HtmlBlock => ("<p>", "</p>"),
            Tag::Heading { .. } => ("<p><strong>", "</strong></p>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(_) => ("<pre><code>", "</code></pre>"),
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(_)) => ("<ol>", "</ol>"),
            Tag::Item => ("<li>", "</li>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<del>", "</del>"),
            // Images and extensions that are not enabled: keep their content.
            _ => ("", ""),
        };
        let is_too_deep = self.open.iter().filter(|end| !end.is_empty()).count() >= DEPTH_MAX;
        let (begin, end) = if is_too_deep && end != "</a>" { ("", "") } else { (begin, end) };
        self.out.push_str(begin);
        self.open.push(end);
    }

    /// Appends escaped text.
    fn text(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                letter => self.out.push(letter),
            }
        }
    }
}
