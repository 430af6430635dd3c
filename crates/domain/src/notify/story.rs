//! What a message tells, in words and before any vendor's form: every kind of channel says the same
//! in its own way. Texts are on one line here, neither escaped nor cut.

mod words;

use std::fmt::Write as _;

use rules::Timestamp;

use self::words::{facts, link, region, title, why};
pub(super) use self::words::{shown_time, written_time};
use super::event::{Ended, Event, EventKind, Notice};
use super::fit::one_line;
use super::message::Envelope;

/// Who speaks, where a vendor asks for that.
pub(super) const SENDER: &str = "Aloft";
/// Words of the link to the incident.
pub(super) const LINK_WORDS: &str = "Open in Aloft";

/// What the message means for those who read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tone {
    /// Somebody tries whether it arrives.
    Test,
    /// It is over.
    Fine,
    /// Something is slow or partly failing.
    Degraded,
    /// Something is down.
    Down,
}

/// Whether what is told goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It began, or still lasts.
    Open,
    /// It is over: what was opened for it can be closed.
    Over,
}

/// What a message tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Story {
    pub(super) tone: Tone,
    pub(super) phase: Phase,
    /// What happened and to what: `Down: API`. Says the most first, because it may be cut.
    pub(super) title: String,
    /// Why, as a sentence.
    pub(super) why: Option<String>,
    /// What the monitor asks; never of several events.
    pub(super) target: Option<String>,
    /// More that is known, none of it empty.
    pub(super) facts: Vec<Fact>,
    /// What each region saw, or what happened in a storm.
    pub(super) lines: Vec<String>,
    /// Name of the workspace.
    pub(super) workspace: String,
    /// When it happened.
    pub(super) at: Timestamp,
    /// Where people see more, an `http` or `https` URL of at most 2,048 characters.
    pub(super) link: Option<String>,
}

/// One thing that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) label: &'static str,
    pub(super) value: String,
}

impl Tone {
    /// A sign that is read before the words.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Test => "🔵",
            Self::Fine => "🟢",
            Self::Degraded => "🟠",
            Self::Down => "🔴",
        }
    }

    /// Its colour as RGB, of the palette of status pages (design §7); the words say it too.
    pub(super) const fn colour(self) -> u32 {
        match self {
            Self::Test => 0x28_66_c6,
            Self::Fine => 0x00_a0_89,
            Self::Degraded => 0xff_d0_1d,
            Self::Down => 0xe4_00_3d,
        }
    }

    fn of(event: &Event) -> Self {
        match event.kind {
            EventKind::Error => Self::Down,
            EventKind::Degraded | EventKind::StillDegraded => Self::Degraded,
            EventKind::Recovered if event.closed == Some(Ended::Degraded) => Self::Degraded,
            EventKind::Recovered => Self::Fine,
            EventKind::Test => Self::Test,
        }
    }
}

impl Story {
    /// What `notice` tells on the channel called `channel`.
    pub(super) fn of(channel: Option<&str>, notice: Notice<'_>, envelope: &Envelope<'_>) -> Self {
        let mut story = match notice {
            Notice::One(event) if event.kind == EventKind::Test => test(channel, event),
            Notice::One(event) => one(event),
            Notice::Storm(events) => storm(events, envelope.now),
        };
        story.link = envelope.link.as_deref().and_then(link);
        story.facts.retain(|fact| !fact.value.is_empty());
        story
    }

    /// The title behind its sign.
    pub(super) fn signed_title(&self) -> String {
        format!("{} {}", self.tone.sign(), self.title)
    }

    /// Target, facts and workspace, in the order in which they are shown.
    pub(super) fn all_facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let target = self.target.iter().map(|target| ("Target", target.as_str()));
        let facts = self.facts.iter().map(|fact| (fact.label, fact.value.as_str()));
        let workspace = Some(("Workspace", self.workspace.as_str()));
        target.chain(facts).chain(workspace.filter(|(_, name)| !name.is_empty()))
    }

    /// All of it as plain text in several lines, without title and link.
    pub(super) fn text(&self) -> String {
        let mut text = self.why.clone().unwrap_or_default();
        for (label, value) in self.all_facts() {
            let _ = write!(text, "\n{label}: {value}");
        }
        for line in &self.lines {
            let _ = write!(text, "\n• {line}");
        }
        text.trim_start().to_owned()
    }
}

fn test(channel: Option<&str>, event: &Event) -> Story {
    let named = channel.map(one_line).filter(|name| !name.is_empty());
    let of =
        named.map_or_else(|| "this channel".to_owned(), |name| format!("the channel \"{name}\""));
    let (title, phase) = match event.closed {
        None => ("Test: this channel works".to_owned(), Phase::Open),
        Some(_) => ("Test: resolved".to_owned(), Phase::Over),
    };
    Story {
        tone: Tone::Test,
        phase,
        title,
        why: Some(format!("This is a test of {of}. Nothing is wrong.")),
        target: None,
        facts: Vec::new(),
        lines: Vec::new(),
        workspace: one_line(&event.workspace),
        at: event.at,
        link: None,
    }
}

fn one(event: &Event) -> Story {
    let monitor = &event.monitor;
    let target = one_line(&monitor.target);
    let target = match &monitor.method {
        Some(method) => format!("{} {target}", one_line(method)),
        None => target,
    };
    Story {
        tone: Tone::of(event),
        phase: if event.kind == EventKind::Recovered { Phase::Over } else { Phase::Open },
        title: title(event),
        why: why(event),
        target: Some(target).filter(|target| !target.is_empty()),
        facts: facts(event),
        lines: event.grounds.places().map(region).collect(),
        workspace: one_line(&event.workspace),
        at: event.at,
        link: None,
    }
}

fn storm(events: &[Event], now: Timestamp) -> Story {
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    let counts = [
        (count(EventKind::Error), "down"),
        (count(EventKind::Degraded) + count(EventKind::StillDegraded), "degraded"),
        (count(EventKind::Recovered), "recovered"),
        (count(EventKind::Test), "test"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let line = |event: &Event| match why(event) {
        Some(why) => format!("{}: {why}", title(event)),
        None => title(event),
    };
    let over = events.iter().all(|event| event.kind == EventKind::Recovered);
    Story {
        tone: events.iter().map(Tone::of).max().unwrap_or(Tone::Fine),
        phase: if over { Phase::Over } else { Phase::Open },
        title: format!("{} events: {}", events.len(), counts.join(", ")),
        why: None,
        target: None,
        facts: Vec::new(),
        lines: events.iter().map(line).collect(),
        workspace: events.first().map(|event| one_line(&event.workspace)).unwrap_or_default(),
        at: events.last().map_or(now, |event| event.at),
        link: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::tests::an_event;

    #[test]
    fn a_storm_is_over_when_all_of_it_is() {
        let events = [an_event(EventKind::Recovered), an_event(EventKind::Recovered)];
        let story = storm(&events, Timestamp::from_millis(0));
        assert_eq!((story.tone, story.phase), (Tone::Fine, Phase::Over));
        assert_eq!(story.title, "2 events: 2 recovered");
    }
}
