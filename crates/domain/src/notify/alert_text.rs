//! The text of a message, independent of vendors: every kind of channel shows the same content in
//! its own format. Texts are on one line here, neither escaped nor cut.

mod format;

use std::fmt::Write as _;

use rules::Timestamp;

use self::format::{facts, link, reason, region, title};
pub(super) use self::format::{format_rfc3339, format_time};
use super::event::{CloseReason, Event, EventBatch, EventKind};
use super::message::Envelope;
use super::truncate::one_line;

/// Sender name, for vendors that require one.
pub(super) const SENDER: &str = "Aloft";
/// Text of the link to the incident.
pub(super) const LINK_TEXT: &str = "Open in Aloft";

/// Severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// A test of the channel.
    Test,
    /// The problem is over.
    Fine,
    /// The monitor is degraded.
    Degraded,
    /// The monitor is down.
    Down,
}

/// State of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlertState {
    /// The problem began or continues.
    Open,
    /// The problem is over: its alert can be closed.
    Resolved,
}

/// The text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AlertText {
    pub(super) severity: Severity,
    pub(super) state: AlertState,
    /// The event and the monitor's name: `Down: API`. The most important part first, because it may
    /// be cut.
    pub(super) title: String,
    /// Reason, as a sentence.
    pub(super) why: Option<String>,
    /// Target of the monitor; never for digests.
    pub(super) target: Option<String>,
    /// Further facts, none of them empty.
    pub(super) facts: Vec<Fact>,
    /// Results of the regions, or events of a digest.
    pub(super) lines: Vec<String>,
    /// Name of the workspace.
    pub(super) workspace: String,
    pub(super) at: Timestamp,
    /// Link to details, an `http` or `https` URL of at most 2,048 characters.
    pub(super) link: Option<String>,
}

/// A labelled value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) label: &'static str,
    pub(super) value: String,
}

impl Severity {
    /// Returns the emoji shown before the title.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Test => "🔵",
            Self::Fine => "🟢",
            Self::Degraded => "🟠",
            Self::Down => "🔴",
        }
    }

    /// Returns its colour as RGB, from the palette of status pages (design §7). The text also
    /// states the severity.
    pub(super) const fn colour(self) -> u32 {
        match self {
            Self::Test => 0x28_66_c6,
            Self::Fine => 0x00_a0_89,
            Self::Degraded => 0xff_d0_1d,
            Self::Down => 0xe4_00_3d,
        }
    }

    fn from_event(event: &Event) -> Self {
        match event.kind {
            EventKind::Error => Self::Down,
            EventKind::Degraded | EventKind::StillDegraded => Self::Degraded,
            EventKind::Recovered if event.closed == Some(CloseReason::Degraded) => Self::Degraded,
            EventKind::Recovered => Self::Fine,
            EventKind::Test => Self::Test,
        }
    }
}

impl AlertText {
    /// Creates the text of `batch` for the channel named `channel`.
    pub(super) fn new(
        channel: Option<&str>,
        batch: EventBatch<'_>,
        envelope: &Envelope<'_>,
    ) -> Self {
        let mut alert_text = match batch {
            EventBatch::One(event) if event.kind == EventKind::Test => test(channel, event),
            EventBatch::One(event) => single(event),
            EventBatch::Digest(events) => digest(events, envelope.now),
        };
        alert_text.link = envelope.link.as_deref().and_then(link);
        alert_text.facts.retain(|fact| !fact.value.is_empty());
        alert_text
    }

    /// Returns the title with its emoji.
    pub(super) fn signed_title(&self) -> String {
        format!("{} {}", self.severity.sign(), self.title)
    }

    /// Returns target, facts and workspace, in display order.
    pub(super) fn all_facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let workspace = Some(("Workspace", self.workspace.as_str()));
        self.target_and_facts().chain(workspace.filter(|(_, name)| !name.is_empty()))
    }

    /// Returns target and facts, in display order.
    pub(super) fn target_and_facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let target = self.target.iter().map(|target| ("Target", target.as_str()));
        target.chain(self.facts.iter().map(|fact| (fact.label, fact.value.as_str())))
    }

    /// Returns everything except title and link as plain text in several lines.
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

fn test(channel: Option<&str>, event: &Event) -> AlertText {
    let named = channel.map(one_line).filter(|name| !name.is_empty());
    let of =
        named.map_or_else(|| "this channel".to_owned(), |name| format!("the channel \"{name}\""));
    let (title, state) = match event.closed {
        None => ("Test: this channel works".to_owned(), AlertState::Open),
        Some(_) => ("Test: resolved".to_owned(), AlertState::Resolved),
    };
    AlertText {
        severity: Severity::Test,
        state,
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

fn single(event: &Event) -> AlertText {
    let monitor = &event.monitor;
    let target = one_line(&monitor.target);
    let target = match &monitor.method {
        Some(method) => format!("{} {target}", one_line(method)),
        None => target,
    };
    AlertText {
        severity: Severity::from_event(event),
        state: if event.kind == EventKind::Recovered {
            AlertState::Resolved
        } else {
            AlertState::Open
        },
        title: title(event),
        why: reason(event),
        target: Some(target).filter(|target| !target.is_empty()),
        facts: facts(event),
        lines: event.cause.distinct_places().map(region).collect(),
        workspace: one_line(&event.workspace),
        at: event.at,
        link: None,
    }
}

fn digest(events: &[Event], now: Timestamp) -> AlertText {
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    let counts = [
        (count(EventKind::Error), "down"),
        (count(EventKind::Degraded) + count(EventKind::StillDegraded), "degraded"),
        (count(EventKind::Recovered), "recovered"),
        (count(EventKind::Test), "test"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let line = |event: &Event| match reason(event) {
        Some(why) => format!("{}: {why}", title(event)),
        None => title(event),
    };
    let over = events.iter().all(|event| event.kind == EventKind::Recovered);
    AlertText {
        severity: events.iter().map(Severity::from_event).max().unwrap_or(Severity::Fine),
        state: if over { AlertState::Resolved } else { AlertState::Open },
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
    fn digest_is_closed_when_all_events_are() {
        let events = [an_event(EventKind::Recovered), an_event(EventKind::Recovered)];
        let alert_text = digest(&events, Timestamp::from_millis(0));
        assert_eq!((alert_text.severity, alert_text.state), (Severity::Fine, AlertState::Resolved));
        assert_eq!(alert_text.title, "2 events: 2 recovered");
    }
}
