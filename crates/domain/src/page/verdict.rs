//! The one sentence on top of a page, and how old the knowledge is that it stands on.

use rules::Timestamp;

use super::facts::Facts;
use super::state::State;
use super::view::ComponentView;

/// What the matter is, as one sentence says it, and since when that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The worst state that matters: of what is down, degraded, unknown or worked on.
    pub state: State,
    /// Which sentence; names are of components in the order of the page.
    pub sentence: Sentence,
    /// What it stands on.
    pub knowledge: Knowledge,
}

/// The sentences. The words are the server's, in the visitor's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// The page shows nothing.
    Empty,
    /// Everything works.
    AllUp,
    /// Everything is down.
    AllDown,
    /// These are down.
    SomeDown(Vec<String>),
    /// These are slow or partly failing, and nothing is down.
    SomeDegraded(Vec<String>),
    /// These are worked on as planned, and all else is well.
    Maintenance(Vec<String>),
    /// Of these nothing is known, and all else is well.
    SomeUnknown(Vec<String>),
    /// Nothing is known.
    AllUnknown,
}

/// How old what is shown is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowledge {
    /// When the newest check of anything on the page finished; `None` where nothing is checked.
    pub checked_at: Option<Timestamp>,
    /// Names of components whose monitor runs and whose last check is older than two periods: what
    /// is said of them may be past.
    pub stale: Vec<String>,
}

pub(super) fn verdict(facts: &Facts, components: &[ComponentView]) -> Verdict {
    let of = |state: State| -> Vec<String> {
        let are = components.iter().filter(|component| component.state == state);
        are.map(|component| component.name.clone()).collect()
    };
    let all = |state: State| components.iter().all(|component| component.state == state);
    let has = |state: State| components.iter().any(|component| component.state == state);
    let (state, sentence) = if components.is_empty() {
        (State::Unknown, Sentence::Empty)
    } else if has(State::Down) {
        let sentence =
            if all(State::Down) { Sentence::AllDown } else { Sentence::SomeDown(of(State::Down)) };
        (State::Down, sentence)
    } else if has(State::Degraded) {
        (State::Degraded, Sentence::SomeDegraded(of(State::Degraded)))
    } else if has(State::Maintenance) {
        (State::Maintenance, Sentence::Maintenance(of(State::Maintenance)))
    } else if all(State::Unknown) {
        (State::Unknown, Sentence::AllUnknown)
    } else if has(State::Unknown) {
        (State::Unknown, Sentence::SomeUnknown(of(State::Unknown)))
    } else {
        (State::Up, Sentence::AllUp)
    };
    Verdict { state, sentence, knowledge: knowledge(facts, components) }
}

fn knowledge(facts: &Facts, components: &[ComponentView]) -> Knowledge {
    let monitors = facts.components.iter().filter_map(|it| it.monitor.as_ref());
    let checked_at = monitors.filter(|it| it.runs).filter_map(|it| it.checked_at).max();
    let stale = components.iter().filter(|component| component.is_stale);
    Knowledge { checked_at, stale: stale.map(|component| component.name.clone()).collect() }
}
