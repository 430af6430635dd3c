//! A document as what stands below one another in it. Examples that say the same in several languages
//! and stand directly below one another, perhaps each with its name above it, are found here, so that
//! they are shown side by side.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::colour::{Fence, Language, Place};
use super::reading::plain;

/// A part of a document that stands in no other.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// Anything, as the numbers of its events.
    Any(Range<usize>),
    /// The same in several languages.
    Alternatives(Vec<Sample>),
}

/// A piece of code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// How it is named among others.
    pub(super) name: &'static str,
    /// The event that begins the heading above it, where that is its name.
    pub(super) heading: Option<usize>,
    /// What is said beside the name, as the numbers of its events.
    pub(super) beside: Range<usize>,
    pub(super) language: &'static Language,
    pub(super) code: String,
}

/// What alternatives are called, with how a line above them names them.
const NAMES: [(&str, &str); 5] = [
    ("curl", "curl"),
    ("typescript", "TypeScript"),
    ("javascript", "JavaScript"),
    ("terraform", "Terraform"),
    ("command line", "Command line"),
];

/// The blocks of a document, in order.
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

/// Whether a block is a list of links to places of the same document and nothing else: its contents, which
/// stand beside it where it is served.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the list is the library's, and what is not named here is no list"
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

/// Where each block begins and ends.
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

/// The samples with different names that follow each other from here on, and how many blocks they are.
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

/// The sample that begins here, with its name where that stands above it.
fn sample(events: &[Event<'_>], ranges: &[Range<usize>]) -> Option<(Sample, usize)> {
    let first = ranges.first()?.clone();
    if let Some((language, code)) = code(&events[first.clone()]) {
        let name = own_name(language, &code)?;
        return Some((Sample { name, heading: None, beside: 0..0, language, code }, 1));
    }
    let (name, beside) = label(events, first.clone())?;
    let (language, code) = code(&events[ranges.get(1)?.clone()])?;
    let is_heading = matches!(events[first.start], Event::Start(Tag::Heading { .. }));
    let heading = is_heading.then_some(first.start);
    Some((Sample { name, heading, beside, language, code }, 2))
}

/// The language and the text of a block of code. What is run on the server's own machine is no call of its
/// readers, and so a step.
fn code(events: &[Event<'_>]) -> Option<(&'static Language, String)> {
    let Event::Start(Tag::CodeBlock(kind)) = events.first()? else { return None };
    let fence = match kind {
        CodeBlockKind::Fenced(fence) => fence,
        CodeBlockKind::Indented => "",
    };
    let Fence { language, place: Place::Anywhere } = Fence::parse(fence) else { return None };
    let code: String = events.iter().filter_map(plain).collect();
    Some((language, code))
}

/// What code is called that has no name above it. Only what calls this service is an alternative of
/// something: other commands are steps, and follow each other.
fn own_name(language: &Language, code: &str) -> Option<&'static str> {
    match language.label {
        "Shell" if code.contains("curl ") => Some("curl"),
        "TypeScript" => Some("TypeScript"),
        "JavaScript" => Some("JavaScript"),
        "Terraform" => Some("Terraform"),
        _ => None,
    }
}

/// The name that a line says, a small heading or bold at its beginning, and what it says beside it.
fn label(events: &[Event<'_>], line: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let inside = line.start + 1..line.end - 1;
    let (said, beside) = match (&events[line.start], events.get(inside.start)?) {
        (Event::Start(Tag::Heading { level, .. }), _) if *level as u8 >= 3 => (inside, 0..0),
        (Event::Start(Tag::Paragraph), Event::Start(Tag::Strong)) => {
            let is_end = |event: &Event<'_>| matches!(event, Event::End(TagEnd::Strong));
            let end = inside.start + events[inside.clone()].iter().position(is_end)?;
            (inside.start..end, end + 1..inside.end)
        }
        _ => return None,
    };
    let text: String = events[said].iter().filter_map(plain).collect();
    let text = text.trim_end_matches(':').to_lowercase();
    let (_, name) = NAMES.iter().find(|(said, _)| *said == text)?;
    Some((name, beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::reading::events;

    /// The names of what is side by side, for each block.
    fn names(text: &str) -> Vec<Vec<&'static str>> {
        let names = |block: Block| match block {
            Block::Any(_) => Vec::new(),
            Block::Alternatives(samples) => samples.iter().map(|it| it.name).collect(),
        };
        blocks(&events(text)).into_iter().map(names).collect()
    }

    #[test]
    fn what_says_the_same_in_several_languages_is_side_by_side() {
        let bare = "```sh\ncurl x\n```\n\n```ts\nx()\n```\n\n```hcl\nx = 1\n```\n";
        assert_eq!(names(bare), [["curl", "TypeScript", "Terraform"]]);
        let named =
            "**curl**\n\n```sh\nx\n```\n\n**TypeScript**: [x](y)\n\n```ts\nx\n```\n\nText\n";
        assert_eq!(names(named), [vec!["curl", "TypeScript"], vec![]]);
        let headed = "#### curl\n```sh\nx\n```\n#### TypeScript\n```ts\nx\n```\n";
        assert_eq!(names(headed), [["curl", "TypeScript"]]);
    }

    #[test]
    fn a_list_of_links_to_the_same_document_is_its_contents() {
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
