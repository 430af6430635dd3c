//! What stands in a document: the events of its Markdown, and its headings with the anchors that GitHub
//! gives them, so that a link works in both places.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// A heading of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// The number of the event that begins it.
    pub(super) at: usize,
    /// 1 to 6.
    pub(super) level: u8,
    /// As plain text.
    pub(super) text: String,
    /// What stands behind `#` in a link to it.
    pub(super) anchor: String,
}

/// The dialect that documents are written in: that of GitHub.
const DIALECT: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_GFM);

/// The events of a text.
pub(super) fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, DIALECT).collect()
}

/// All headings, in order.
pub(super) fn headings(events: &[Event<'_>]) -> Vec<Heading> {
    let mut anchors = Anchors::default();
    let mut headings = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let Event::Start(Tag::Heading { level, .. }) = event else { continue };
        let inside = events[at + 1..].iter().take_while(|it| !is_end_of_heading(it));
        let text: String = inside.filter_map(plain).collect();
        let anchor = anchors.of(&text);
        headings.push(Heading { at, level: *level as u8, text, anchor });
    }
    headings
}

fn is_end_of_heading(event: &Event<'_>) -> bool {
    matches!(event, Event::End(pulldown_cmark::TagEnd::Heading(_)))
}

/// The text of an event that is text.
pub(super) fn plain<'a>(event: &'a Event<'_>) -> Option<&'a str> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list is the library's, and what is not named here is no text"
    )]
    match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        Event::SoftBreak | Event::HardBreak => Some(" "),
        _ => None,
    }
}

/// Gives anchors to the headings of one document.
#[derive(Debug, Default)]
struct Anchors {
    given: HashMap<String, usize>,
}

impl Anchors {
    /// The anchor of the next heading: its letters and digits, small, with `-` for spaces; behind one that was
    /// given already a number.
    fn of(&mut self, heading: &str) -> String {
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ');
        let letters = heading.trim().chars().filter(kept).flat_map(char::to_lowercase);
        let plain: String = letters.map(|it| if it == ' ' { '-' } else { it }).collect();
        let mut anchor = plain.clone();
        while self.given.contains_key(&anchor) {
            let times = self.given.entry(plain.clone()).or_default();
            *times += 1;
            anchor = format!("{plain}-{times}");
        }
        self.given.insert(anchor.clone(), 0);
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As github-slugger 2.0, which states GitHub's own behaviour, gives them.
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
