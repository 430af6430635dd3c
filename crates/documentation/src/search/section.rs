//! Splits a document into its sections: the texts between one heading and the next.

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::document::Document;
use crate::markdown::{Heading, events, headings, plain};

/// The text between one heading and the next.
#[derive(Debug)]
pub(super) struct Section {
    /// Address with its anchor.
    pub(super) address: String,
    /// Title of its document.
    pub(super) title: String,
    /// Empty at the beginning of the document.
    pub(super) heading: String,
    /// Names that the section explains: code in its heading and at the beginning of items and rows.
    pub(super) names: Vec<String>,
    pub(super) text: String,
}

impl Section {
    /// Returns the heading, or the title at the beginning of the document.
    pub(super) fn shown_heading(&self) -> &str {
        if self.heading.is_empty() { &self.title } else { &self.heading }
    }
}

/// Returns the sections of a document, in order.
pub(super) fn sections(document: &Document) -> Vec<Section> {
    let events = events(document.text());
    let headings = headings(&events);
    let (title, address) = (document.summary().title, document.address());
    let ends = headings.iter().skip(1).map(|heading| heading.at).chain([events.len()]);
    // Text above the first heading belongs to no section: every document begins with its title.
    let section = |(heading, end): (&Heading, usize)| {
        let below_title = Some(heading).filter(|heading| heading.level > 1);
        let anchor = below_title.map(|heading| format!("#{}", heading.anchor));
        let mut reader = Reader::default();
        for event in &events[heading.at..end] {
            reader.read(event);
        }
        Section {
            address: format!("{address}{}", anchor.unwrap_or_default()),
            title: title.clone(),
            heading: below_title.map_or(String::new(), |heading| heading.text.clone()),
            names: reader.names,
            text: reader.text,
        }
    };
    headings.iter().zip(ends).map(section).collect()
}

/// Collects the names and the text of a section.
#[derive(Debug, Default)]
struct Reader {
    names: Vec<String>,
    text: String,
    in_heading: bool,
    /// Whether an item or a row has just begun. Code here is a name that it explains.
    begins: bool,
}

impl Reader {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library defines the events; the others have no text"
    )]
    fn read(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. }) => self.in_heading = true,
            Event::End(TagEnd::Heading(_)) => self.in_heading = false,
            Event::Start(Tag::Item | Tag::TableRow) => self.begins = true,
            Event::Code(name) if self.in_heading || self.begins => {
                self.names.push(name.to_string());
                self.begins = false;
            }
            Event::Text(text) if !text.trim().is_empty() => self.begins = false,
            _ => {}
        }
        match plain(event) {
            Some(text) if !self.in_heading => self.push(text),
            _ if separates(event) => self.push(" "),
            _ => {}
        }
    }

    /// Appends text, with consecutive spaces merged into one.
    fn push(&mut self, text: &str) {
        for letter in text.chars() {
            let letter = if letter.is_whitespace() { ' ' } else { letter };
            if letter != ' ' || !self.text.is_empty() && !self.text.ends_with(' ') {
                self.text.push(letter);
            }
        }
    }
}

/// Returns whether an event separates words.
fn separates(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::End(
            TagEnd::Paragraph
                | TagEnd::Item
                | TagEnd::TableCell
                | TagEnd::TableRow
                | TagEnd::TableHead
                | TagEnd::CodeBlock
                | TagEnd::BlockQuote(_)
        )
    )
}
