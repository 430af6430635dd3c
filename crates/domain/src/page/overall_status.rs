//! Decides the overall status of a page as one summary, and the age of its data.

use super::facts::Facts;
use super::state::State;
use super::view::{ComponentView, DataAge, OverallStatus, StatusSummary};

pub(super) fn overall_status(facts: &Facts, components: &[ComponentView]) -> OverallStatus {
    let of = |state: State| -> Vec<String> {
        let are = components.iter().filter(|component| component.state == state);
        are.map(|component| component.name.clone()).collect()
    };
    let all = |state: State| components.iter().all(|component| component.state == state);
    let has = |state: State| components.iter().any(|component| component.state == state);
    let (state, summary) = if components.is_empty() {
        (State::Unknown, StatusSummary::Empty)
    } else if has(State::Down) {
        let summary = if all(State::Down) {
            StatusSummary::AllDown
        } else {
            StatusSummary::SomeDown(of(State::Down))
        };
        (State::Down, summary)
    } else if has(State::Degraded) {
        (State::Degraded, StatusSummary::SomeDegraded(of(State::Degraded)))
    } else if has(State::Maintenance) {
        (State::Maintenance, StatusSummary::Maintenance(of(State::Maintenance)))
    } else if all(State::Unknown) {
        (State::Unknown, StatusSummary::AllUnknown)
    } else if has(State::Unknown) {
        (State::Unknown, StatusSummary::SomeUnknown(of(State::Unknown)))
    } else {
        (State::Up, StatusSummary::AllUp)
    };
    OverallStatus { state, summary, data_age: data_age(facts, components) }
}

fn data_age(facts: &Facts, components: &[ComponentView]) -> DataAge {
    let monitors = facts.components.iter().filter_map(|it| it.monitor.as_ref());
    let checked_at = monitors.filter(|it| it.runs).filter_map(|it| it.checked_at).max();
    let stale = components.iter().filter(|component| component.is_stale);
    DataAge { checked_at, stale: stale.map(|component| component.name.clone()).collect() }
}
