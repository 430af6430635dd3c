//! Splits a document into its top-level blocks.
//!
//! Consecutive examples of the same call in several languages become one block, so that the page can
//! show them as tabs. Each example may have its name above it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::fence::{Fence, Language, RunsOn};
use super::markdown::plain;

/// A top-level block of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// Any other block, as a range of event numbers.
    Any(Range<usize>),
    /// The same example in several languages.
    Alternatives(Vec<Sample>),
}

/// A code example in one language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Label of its tab.
    pub(super) name: &'static str,
    /// Number of the event that begins the heading above it, if that heading is its name.
    pub(super) heading: Option<usize>,
    /// Event numbers of the text after the name.
    pub(super) description: Range<usize>,
    pub(super) language: &'static Language,
    pub(super) code: String,
}

/// Labels of alternatives, with the names that a line above the code may use.
const NAMES: [(&str, &str); 7] = [
    ("curl", "curl"),
    ("typescript", "TypeScript"),
    ("go", "Go"),
    ("python", "Python"),
    ("javascript", "JavaScript"),
    ("terraform", "Terraform"),
    ("command line", "Command line"),
];

/// Returns the blocks of a document, in order.
pub(super) fn blocks(events: &[Event<'_>]) -> Vec<Block> {
    let ranges = ranges(events);
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < ranges.len() {
        let (samples, taken) = alternatives(events, &ranges[at..]);
        if samples.len() > 1 {
            blocks.push(Block::Alternatives(samples));
            at += taken;
        } else {
            blocks.push(Block::Any(ranges[at].clone()));
            at += 1;
        }
    }
    blocks
}

/// Returns whether a block contains only links to sections of the same document. Such a table of
/// contents is omitted, because the page shows its own.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library defines the events; the others are not lists"
)]
pub(super) fn is_contents(block: &[Event<'_>]) -> bool {
    let (mut in_link, mut links) = (false, 0);
    let is_part = |event: &Event<'_>| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            (in_link, links) = (true, links + 1);
            dest_url.starts_with('#')
        }
        Event::End(TagEnd::Link) => {
            in_link = false;
            true
        }
        Event::Text(_) | Event::Code(_) => in_link,
        event => matches!(event, Event::Start(Tag::List(_) | Tag::Item) | Event::End(_)),
    };
    block.iter().all(is_part) && links > 1
}

/// Returns the range of each block.
fn ranges(events: &[Event<'_>]) -> Vec<Range<usize>> {
    let (mut ranges, mut depth, mut begin) = (Vec::new(), 0_usize, 0);
    for (at, event) in events.iter().enumerate() {
        if matches!(event, Event::Start(_)) {
            depth += 1;
        } else if matches!(event, Event::End(_)) {
            depth -= 1;
        }
        if depth == 0 {
            ranges.push(begin..at + 1);
            begin = at + 1;
        }
    }
    ranges
}

/// Returns the consecutive samples with different names that begin here, and the number of their
/// blocks.
fn alternatives(events: &[Event<'_>], ranges: &[Range<usize>]) -> (Vec<Sample>, usize) {
    let (mut samples, mut taken): (Vec<Sample>, usize) = (Vec::new(), 0);
    while let Some((sample, blocks)) = sample(events, &ranges[taken..]) {
        if samples.iter().any(|it| it.name == sample.name) {
            break;
        }
        samples.push(sample);
        taken += blocks;
    }
    (samples, taken)
}

/// Returns the sample that begins here, with its name if the line above states one.
fn sample(events: &[Event<'_>], ranges: &[Range<usize>]) -> Option<(Sample, usize)> {
    let first = ranges.first()?.clone();
    if let Some((language, code)) = code(&events[first.clone()]) {
        let name = own_name(language, &code)?;
        return Some((Sample { name, heading: None, description: 0..0, language, code }, 1));
    }
    let (name, beside) = label(events, first.clone())?;
    let (language, code) = code(&events[ranges.get(1)?.clone()])?;
    let is_heading = matches!(events[first.start], Event::Start(Tag::Heading { .. }));
    let heading = is_heading.then_some(first.start);
    Some((Sample { name, heading, description: beside, language, code }, 2))
}

/// Returns the language and the text of a code block. Commands for the server's own machine are steps,
/// not calls, and return `None`.
fn code(events: &[Event<'_>]) -> Option<(&'static Language, String)> {
    let Event::Start(Tag::CodeBlock(kind)) = events.first()? else { return None };
    let fence = match kind {
        CodeBlockKind::Fenced(fence) => fence,
        CodeBlockKind::Indented => "",
    };
    let Fence { language, runs_on: RunsOn::Anywhere } = Fence::parse(fence) else { return None };
    let code: String = events.iter().filter_map(plain).collect();
    Some((language, code))
}

/// Returns the name of code without a name above it. Only calls to this server are alternatives; other
/// commands are steps that follow each other.
fn own_name(language: &Language, code: &str) -> Option<&'static str> {
    match language.label {
        "Shell" if code.contains("curl ") => Some("curl"),
        "TypeScript" => Some("TypeScript"),
        "JavaScript" => Some("JavaScript"),
        "Terraform" => Some("Terraform"),
        _ => None,
    }
}

/// Returns the name in a line and the text after it. A name is a small heading or bold text at the
/// beginning.
fn label(events: &[Event<'_>], line: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let inside = line.start + 1..line.end - 1;
    let (label, beside) = match (&events[line.start], events.get(inside.start)?) {
        (Event::Start(Tag::Heading { level, .. }), _) if *level as u8 >= 3 => (inside, 0..0),
        (Event::Start(Tag::Paragraph), Event::Start(Tag::Strong)) => {
            let is_end = |event: &Event<'_>| matches!(event, Event::End(TagEnd::Strong));
            let end = inside.start + events[inside.clone()].iter().position(is_end)?;
            (inside.start..end, end + 1..inside.end)
        }
        _ => return None,
    };
    let text: String = events[label].iter().filter_map(plain).collect();
    let text = text.trim_end_matches(':').to_lowercase();
    let (_, name) = NAMES.iter().find(|(label, _)| *label == text)?;
    Some((name, beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::events;

    /// Returns the names of the alternatives in each block.
    fn names(text: &str) -> Vec<Vec<&'static str>> {
        let names = |block: Block| match block {
            Block::Any(_) => Vec::new(),
            Block::Alternatives(samples) => samples.iter().map(|it| it.name).collect(),
        };
        blocks(&events(text)).into_iter().map(names).collect()
    }

    #[test]
    fn equivalent_examples_become_alternatives() {
        let bare = "```sh\ncurl x\n```\n\n```ts\nx()\n```\n\n```hcl\nx = 1\n```\n";
        assert_eq!(names(bare), [["curl", "TypeScript", "Terraform"]]);
        let named =
            "**curl**\n\n```sh\nx\n```\n\n**TypeScript**: [x](y)\n\n```ts\nx\n```\n\nText\n";
        assert_eq!(names(named), [vec!["curl", "TypeScript"], vec![]]);
        let headed = "#### curl\n```sh\nx\n```\n#### TypeScript\n```ts\nx\n```\n";
        assert_eq!(names(headed), [["curl", "TypeScript"]]);
    }

    #[test]
    fn list_of_same_document_links_is_a_contents() {
        let is = |text| is_contents(&events(text));
        assert!(is("- [a](#a)\n- [`b` c](#b)\n"));
        for text in ["- [a](#a)\n- [b](b.md)\n", "- [a](#a): x\n- [b](#b)\n", "- [a](#a)\n", "text"]
        {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn steps_are_not_alternatives() {
        for text in [
            "```sh\nnpm install\n```\n\n```ts\nx()\n```\n",
            "```sh\ncurl x\n```\n\n```json\n{}\n```\n",
            "```sh\ncurl x\n```\n\n```sh\ncurl y\n```\n",
            "```sh local\ncurl x\n```\n\n```ts\nx()\n```\n",
        ] {
            assert_eq!(names(text), [Vec::<&str>::new(), Vec::new()], "{text}");
        }
        assert_eq!(names("## TypeScript\n\n```ts\nx\n```\n").len(), 2);
    }
}
