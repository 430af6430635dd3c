//! What a message tells, in words and before any vendor's form: every kind of channel says the same
//! in its own way. Texts are on one line here, neither escaped nor cut.

use std::fmt::Write as _;
use std::time::Duration;

use rules::Timestamp;

use super::event::{Ended, Event, EventKind, Notice, RegionSeen};
use super::fit::one_line;
use super::message::Envelope;

/// Who speaks, where a vendor asks for that.
pub(super) const SENDER: &str = "Aloft";
/// Words of the link to the incident.
pub(super) const LINK_WORDS: &str = "Open in Aloft";
/// Longest link, in characters: what the vendors that say something take (Discord, Slack: 2,048 and
/// 3,000), and as long as the specification lets a URL be.
const LINK_CHARS_MAX: usize = 2_048;

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
            EventKind::Degraded => Self::Degraded,
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

/// An instant for people: `2026-11-21 16:48:55 UTC`.
pub(super) fn shown_time(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {} UTC", time.split('.').next().unwrap_or(time)),
        None => text,
    }
}

/// An instant as RFC 3339; `None` for one that no calendar has.
pub(super) fn written_time(at: Timestamp) -> Option<String> {
    let text = at.to_string();
    let is_written = text.len() == "1970-01-01T00:00:00.000Z".len() && text.ends_with('Z');
    is_written.then_some(text)
}

/// A duration for people, in its two largest units: `2 h 5 min`.
pub(super) fn shown_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds % 60, "s")];
    let Some(first) = units.iter().position(|(count, _)| *count > 0) else {
        return format!("{} ms", duration.as_millis());
    };
    let shown = units[first..].iter().take(2).filter(|(count, _)| *count > 0);
    let shown: Vec<String> = shown.map(|(count, unit)| format!("{count} {unit}")).collect();
    shown.join(" ")
}

fn test(channel: Option<&str>, event: &Event) -> Story {
    let named = channel.map(one_line).filter(|name| !name.is_empty());
    let of =
        named.map_or_else(|| "this channel".to_owned(), |name| format!("the channel \"{name}\""));
    let (title, phase) = match event.closed {
        None => ("Test: messages arrive here".to_owned(), Phase::Open),
        Some(_) => ("Test: over".to_owned(), Phase::Over),
    };
    Story {
        tone: Tone::Test,
        phase,
        title,
        why: Some(format!("Somebody tries {of}. Nothing is wrong.")),
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
        lines: event.grounds.regions.iter().map(region).collect(),
        workspace: one_line(&event.workspace),
        at: event.at,
        link: None,
    }
}

fn storm(events: &[Event], now: Timestamp) -> Story {
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    let counts = [
        (count(EventKind::Error), "down"),
        (count(EventKind::Degraded), "degraded"),
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

/// What happened, before the name: a long name is cut, and what happened is not.
fn title(event: &Event) -> String {
    let name = one_line(&event.monitor.name);
    let lasted = shown_duration(event.lasted());
    match (event.kind, event.closed) {
        (EventKind::Error, _) if event.reminder > 0 => format!("Still down after {lasted}: {name}"),
        (EventKind::Error, _) => format!("Down: {name}"),
        (EventKind::Degraded, _) if event.reminder > 0 => {
            format!("Still degraded after {lasted}: {name}")
        }
        (EventKind::Degraded, _) => format!("Degraded: {name}"),
        (EventKind::Recovered, None | Some(Ended::Recovered)) => {
            format!("Recovered after {lasted}: {name}")
        }
        (EventKind::Recovered, Some(Ended::Degraded)) => {
            format!("No longer down after {lasted}, still degraded: {name}")
        }
        (EventKind::Recovered, Some(Ended::Paused)) => {
            format!("Paused after {lasted} of trouble: {name}")
        }
        (EventKind::Recovered, Some(Ended::Deleted)) => {
            format!("Deleted after {lasted} of trouble: {name}")
        }
        (EventKind::Recovered, Some(Ended::Resolved)) => {
            format!("Resolved by hand after {lasted}: {name}")
        }
        (EventKind::Test, _) => format!("Test: {name}"),
    }
}

fn why(event: &Event) -> Option<String> {
    let ended = match (event.kind, event.closed) {
        (EventKind::Recovered, Some(Ended::Paused)) => Some("The monitor was paused."),
        (EventKind::Recovered, Some(Ended::Deleted)) => Some("The monitor was deleted."),
        (EventKind::Recovered, Some(Ended::Resolved)) => Some("Somebody resolved the incident."),
        (
            EventKind::Error | EventKind::Degraded | EventKind::Recovered | EventKind::Test,
            None | Some(_),
        ) => None,
    };
    let told = ended.map_or_else(|| one_line(&event.grounds.why), str::to_owned);
    Some(told).filter(|told| !told.is_empty())
}

fn facts(event: &Event) -> Vec<Fact> {
    let fact = |label, value| Fact { label, value };
    let began = fact("Since", shown_time(event.began_at));
    let lasted = shown_duration(event.lasted());
    let mut facts = match event.kind {
        EventKind::Recovered => {
            vec![fact("Began", began.value), fact("Lasted", lasted)]
        }
        EventKind::Error | EventKind::Degraded if event.reminder > 0 => {
            vec![began, fact("Lasts", lasted), fact("Reminder", event.reminder.to_string())]
        }
        EventKind::Error | EventKind::Degraded => vec![began],
        EventKind::Test => Vec::new(),
    };
    let regions = &event.grounds.regions;
    let failing = regions.iter().filter(|region| region.failing).count();
    if !regions.is_empty() {
        facts.push(fact("Regions", format!("{failing} of {} failing", regions.len())));
    }
    facts
}

fn region(seen: &RegionSeen) -> String {
    let word = if seen.failing { "failing" } else { "fine" };
    let mut line = format!("{} ({}): {word}", seen.region.place().city, seen.region);
    if let Some(status) = seen.status {
        let _ = write!(line, ", status {status}");
    }
    if let Some(latency) = seen.latency_ms {
        let _ = write!(line, ", {latency} ms");
    }
    match seen.reason.as_deref().map(one_line) {
        Some(reason) if !reason.is_empty() => line + ": " + &reason,
        Some(_) | None => line,
    }
}

/// The link as browsers write it, so that no format is ended by a character in it.
fn link(text: &str) -> Option<String> {
    let url = url::Url::parse(text).ok()?;
    let link = url.as_str().replace('|', "%7C").replace('\'', "%27");
    let fits = link.chars().count() <= LINK_CHARS_MAX;
    (fits && matches!(url.scheme(), "http" | "https")).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_their_two_largest_units() {
        for (seconds, expected) in [
            (12, "12 s"),
            (60, "1 min"),
            (303, "5 min 3 s"),
            (7_500, "2 h 5 min"),
            (7_203, "2 h"),
            (273_600, "3 d 4 h"),
        ] {
            assert_eq!(shown_duration(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(shown_duration(Duration::from_millis(340)), "340 ms");
    }

    #[test]
    fn times_are_told_in_utc_without_fractions() {
        assert_eq!(shown_time(Timestamp::from_millis(1_500)), "1970-01-01 00:00:01 UTC");
    }

    #[test]
    fn only_links_that_browsers_open_are_told() {
        for (text, expected) in [
            ("https://status.example.com/i/1", Some("https://status.example.com/i/1")),
            ("https://a.example/x|y>'\"", Some("https://a.example/x%7Cy%3E%27%22")),
            ("javascript:alert(1)", None),
            ("not a link", None),
        ] {
            assert_eq!(link(text).as_deref(), expected, "{text}");
        }
        assert_eq!(link(&format!("https://a.example/{}", "a".repeat(2_048))), None);
    }
}
