//! Parses a document: its Markdown events, and its headings with GitHub's anchors, so that links work
//! in both places.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// A heading of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// Number of the event that begins it.
    pub(super) at: usize,
    /// Level from 1 to 6.
    pub(super) level: u8,
    /// Plain text.
    pub(super) text: String,
    /// Fragment of a link to it, without `#`.
    pub(super) anchor: String,
}

/// Markdown dialect of the documents: GitHub's.
const DIALECT: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_GFM);

/// Returns the Markdown events of a text.
pub(super) fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, DIALECT).collect()
}

/// Returns all headings, in order.
pub(super) fn headings(events: &[Event<'_>]) -> Vec<Heading> {
    let mut anchors = Anchors::default();
    let mut headings = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let Event::Start(Tag::Heading { level, .. }) = event else { continue };
        let inside = events[at + 1..].iter().take_while(|it| !is_end_of_heading(it));
        let text: String = inside.filter_map(plain).collect();
        let anchor = anchors.anchor_for(&text);
        headings.push(Heading { at, level: *level as u8, text, anchor });
    }
    headings
}

fn is_end_of_heading(event: &Event<'_>) -> bool {
    matches!(event, Event::End(pulldown_cmark::TagEnd::Heading(_)))
}

/// Returns the text of an event, if it has any.
pub(super) fn plain<'a>(event: &'a Event<'_>) -> Option<&'a str> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library defines the events; the others have no text"
    )]
    match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        Event::SoftBreak | Event::HardBreak => Some(" "),
        _ => None,
    }
}

/// Assigns anchors to the headings of one document.
#[derive(Debug, Default)]
struct Anchors {
    counts: HashMap<String, usize>,
}

impl Anchors {
    /// Returns the anchor of the next heading: its letters and digits in lower case, with `-` for
    /// spaces. A repeated anchor gets a number.
    fn anchor_for(&mut self, heading: &str) -> String {
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ');
        let letters = heading.trim().chars().filter(kept).flat_map(char::to_lowercase);
        let plain: String = letters.map(|it| if it == ' ' { '-' } else { it }).collect();
        let mut anchor = plain.clone();
        while self.counts.contains_key(&anchor) {
            let times = self.counts.entry(plain.clone()).or_default();
            *times += 1;
            anchor = format!("{plain}-{times}");
        }
        self.counts.insert(anchor.clone(), 0);
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values from github-slugger 2.0, which implements GitHub's behaviour.
    #[test]
    fn anchors_are_those_of_github() {
        let text = "# A `code_span`, & more!\n## Überblick\n## Same\n## Same\n## same-1\n## Same\n## a  b\n## GET /v1/whoami\n### `monitor.v1`\n";
        let headings = headings(&events(text));
        let anchors: Vec<&str> = headings.iter().map(|it| it.anchor.as_str()).collect();
        assert_eq!(
            anchors,
            [
                "a-code_span--more",
                "überblick",
                "same",
                "same-1",
                "same-1-1",
                "same-2",
                "a--b",
                "get-v1whoami",
                "monitorv1",
            ]
        );
        assert_eq!((headings[8].level, headings[8].text.as_str()), (3, "monitor.v1"));
    }
}
