//! The search index: all documents, split into sections at their headings.

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::catalog;
use crate::document::Document;
use crate::markdown::{Heading, events, headings, plain};

/// All searchable sections.
#[derive(Debug)]
pub(crate) struct Index {
    pub(super) sections: Vec<Section>,
}

/// The text between one heading and the next.
#[derive(Debug)]
pub(super) struct Section {
    /// Address with its anchor.
    pub(super) address: String,
    /// Title of its document.
    pub(super) title: String,
    pub(super) folded_title: Folded,
    /// Empty at the beginning of the document.
    pub(super) heading: Folded,
    /// Names that the section explains: code in its heading and at the beginning of items and rows.
    pub(super) names: Vec<Folded>,
    pub(super) text: Folded,
}

/// A text, and its ASCII letters in lower case at the same positions. Other letters remain unchanged.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) original: String,
    pub(super) small: String,
}

impl Folded {
    pub(super) fn new(original: String) -> Self {
        Self { small: original.to_ascii_lowercase(), original }
    }
}

impl Index {
    /// Builds the index of all documents.
    pub(crate) fn for_documentation() -> Self {
        Self::from_documents(catalog::documents())
    }

    pub(super) fn from_documents<'a>(documents: impl Iterator<Item = &'a Document>) -> Self {
        Self { sections: documents.flat_map(sections).collect() }
    }
}

/// Returns the sections of a document, in order.
fn sections(document: &Document) -> Vec<Section> {
    let events = events(document.text());
    let headings = headings(&events);
    let (title, address) = (document.summary().title, document.address());
    let begin = |heading: Option<&Heading>| {
        let of_section = heading.filter(|heading| heading.level > 1);
        let anchor = of_section.map(|heading| format!("#{}", heading.anchor));
        Section {
            address: format!("{address}{}", anchor.unwrap_or_default()),
            title: title.clone(),
            folded_title: Folded::new(title.clone()),
            heading: Folded::new(of_section.map_or(String::new(), |it| it.text.clone())),
            names: Vec::new(),
            text: Folded::default(),
        }
    };
    let mut sections = Vec::new();
    // Text above the first heading belongs to the section of the title.
    let starts: Vec<usize> = headings.iter().map(|heading| heading.at).collect();
    let ends = starts.iter().skip(1).copied().chain([events.len()]);
    for ((heading, start), end) in headings.iter().zip(starts.iter().copied()).zip(ends) {
        let mut section = begin(Some(heading));
        let mut reader = Reader::default();
        for event in &events[start..end] {
            reader.read(event);
        }
        section.names = reader.names.into_iter().map(Folded::new).collect();
        section.text = Folded::new(reader.text);
        sections.push(section);
    }
    sections
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
