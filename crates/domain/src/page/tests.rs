//! The view of a page, built from stored data.

mod archive;
mod report;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rules::status_page::{Component, ComponentGroup, ComponentSettings, GroupSettings};
use rules::status_page::{PageSettings, StatusPage};
use rules::{
    ComponentId, ComponentType, GroupId, IncidentId, MaintenanceId, MonitorId, MonitorStatus,
    PageId, Theme, Timestamp, WorkspaceId,
};

use super::*;
use crate::history::{Span, StatusFrom};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Noon of a day.
const NOW: Timestamp = Timestamp::from_millis(20_000 * DAY + 12 * HOUR);
const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);
const PAGE: PageId = PageId::from_bits(1);

fn ago(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() - millis)
}

fn a_page(components: Vec<ComponentFacts>) -> Facts {
    let settings = PageSettings {
        title: "Acme".to_owned(),
        slug: "acme".to_owned(),
        description: None,
        homepage_url: None,
        contact_url: None,
        icon: None,
        custom_domain: None,
        access_type: None,
        password: None,
        auth_email_domains: Vec::new(),
    };
    let page = StatusPage {
        id: PAGE,
        workspace: WORKSPACE,
        settings,
        published: true,
        theme: Theme::System,
        allow_indexing: true,
        created_at: NOW,
        updated_at: NOW,
    };
    let (groups, incidents, maintenances) = (Vec::new(), Vec::new(), Vec::new());
    let reports = Vec::new();
    Facts { read_at: NOW, page, components, groups, incidents, maintenances, reports }
}

fn a_monitor(number: u64, status: MonitorStatus) -> MonitorFacts {
    MonitorFacts {
        id: MonitorId::from_bits(number),
        name: format!("monitor {number}"),
        runs: true,
        public: false,
        period: Duration::from_secs(30),
        checked_at: Some(ago(12_000)),
        before: MonitorStatus::Active,
        changes: vec![StatusFrom { at: ago(HOUR), status }],
    }
}

fn a_component(number: u64, monitor: Option<MonitorFacts>) -> ComponentFacts {
    let settings = ComponentSettings {
        page_id: PAGE,
        kind: monitor.as_ref().map_or(ComponentType::Static, |_| ComponentType::Monitor),
        monitor_id: monitor.as_ref().map(|monitor| monitor.id),
        name: Some(format!("component {number}")),
        description: None,
        order: None,
        group_id: None,
        group_order: None,
    };
    let component = Component {
        id: ComponentId::from_bits(number),
        workspace: WORKSPACE,
        settings,
        created_at: NOW,
        updated_at: NOW,
    };
    ComponentFacts { component, monitor: monitor.map(Arc::new) }
}

fn facts_of(statuses: &[MonitorStatus]) -> Facts {
    let numbered = statuses.iter().zip(1..);
    a_page(numbered.map(|(it, number)| a_component(number, Some(a_monitor(number, *it)))).collect())
}

fn in_group(mut it: ComponentFacts, group: u64, place: i32) -> ComponentFacts {
    it.component.settings.group_id = Some(GroupId::from_bits(group));
    it.component.settings.group_order = Some(place);
    it
}

fn a_group(number: u64) -> ComponentGroup {
    ComponentGroup {
        id: GroupId::from_bits(number),
        workspace: WORKSPACE,
        settings: GroupSettings { page_id: PAGE, name: format!("group {number}") },
        created_at: NOW,
        updated_at: NOW,
    }
}

fn a_maintenance(from: Timestamp, to: Timestamp, components: Vec<usize>) -> MaintenanceFacts {
    MaintenanceFacts {
        id: MaintenanceId::from_bits(1),
        title: "Disks".to_owned(),
        description: None,
        window: Span { from, to },
        is_recurring: false,
        created_at: from,
        updated_at: from,
        components,
    }
}

fn component_names(view: &PageView) -> Vec<&str> {
    view.components().map(|component| component.name.as_str()).collect()
}

fn named(numbers: &[u64]) -> Vec<String> {
    numbers.iter().map(|number| format!("component {number}")).collect()
}

#[test]
fn summary_shows_worst_state_and_names_components() {
    use MonitorStatus::{Active, Degraded, Error, Unknown};
    for (statuses, state, sentence) in [
        (vec![], State::Unknown, StatusSummary::Empty),
        (vec![Active, Active], State::Up, StatusSummary::AllUp),
        (vec![Error, Error], State::Down, StatusSummary::AllDown),
        (vec![Active, Error, Degraded], State::Down, StatusSummary::SomeDown(named(&[2]))),
        (vec![Degraded, Active], State::Degraded, StatusSummary::SomeDegraded(named(&[1]))),
        (vec![Unknown, Unknown], State::Unknown, StatusSummary::AllUnknown),
        (vec![Unknown, Active], State::Unknown, StatusSummary::SomeUnknown(named(&[1]))),
    ] {
        let overall_status = project(&facts_of(&statuses)).overall_status;
        let found = (overall_status.state, overall_status.summary);
        assert_eq!(found, (state, sentence), "{statuses:?}");
    }
}

#[test]
fn summary_prefers_maintenance_to_unknown() {
    use MonitorStatus::{Active, Unknown};
    let mut facts = facts_of(&[Unknown, Active]);
    facts.maintenances = vec![a_maintenance(ago(HOUR), NOW + Duration::from_mins(1), vec![1])];
    let overall_status = project(&facts).overall_status;
    assert_eq!(overall_status.summary, StatusSummary::Maintenance(named(&[2])));
}

#[test]
fn summary_prefers_outages_to_maintenance() {
    use MonitorStatus::{Active, Error};
    let mut facts = facts_of(&[Active, Error]);
    facts.maintenances = vec![a_maintenance(ago(HOUR), NOW + Duration::from_mins(1), vec![1])];
    let view = project(&facts);
    assert_eq!(view.overall_status.summary, StatusSummary::Maintenance(named(&[2])));
    assert_eq!(view.components().nth(1).unwrap().state, State::Maintenance);
    assert!(view.planned[0].is_active);

    facts.maintenances[0].components = vec![0];
    assert_eq!(project(&facts).overall_status.summary, StatusSummary::SomeDown(named(&[2])));
}

// issue 7: "a warning when older than two periods"
#[test]
fn data_is_stale_after_two_periods() {
    let mut late = a_monitor(2, MonitorStatus::Active);
    late.checked_at = Some(ago(60_001));
    let mut paused = a_monitor(3, MonitorStatus::Active);
    (paused.runs, paused.checked_at) = (false, Some(ago(DAY)));
    let fresh = a_monitor(1, MonitorStatus::Active);
    let facts = a_page(vec![
        a_component(1, Some(fresh)),
        a_component(2, Some(late.clone())),
        a_component(3, Some(paused)),
        a_component(4, None),
    ]);
    let view = project(&facts);
    assert_eq!(view.overall_status.data_age.checked_at, Some(ago(12_000)));
    assert_eq!(view.overall_status.data_age.stale, named(&[2]));
    late.checked_at = Some(ago(60_000));
    let just = a_page(vec![a_component(2, Some(late))]);
    assert!(project(&just).overall_status.data_age.stale.is_empty());
    assert_eq!(project(&a_page(vec![])).overall_status.data_age.checked_at, None);
}

#[test]
fn group_takes_position_of_its_first_component() {
    let mut components: Vec<_> = (1..=5).map(|number| a_component(number, None)).collect();
    components[4].component.settings.order = Some(-1);
    components[3].component.settings.order = Some(7);
    let last = components.pop().unwrap();
    let mut facts = a_page(vec![
        in_group(components[0].clone(), 1, 2),
        components[1].clone(),
        in_group(components[2].clone(), 1, 1),
        components[3].clone(),
        in_group(last, 1, 9),
    ]);
    facts.groups = vec![a_group(1)];
    let view = project(&facts);
    assert_eq!(
        component_names(&view),
        ["component 3", "component 1", "component 5", "component 4", "component 2"]
    );
    let Section::Group(group) = &view.sections[0] else { panic!("the group comes first") };
    assert_eq!((group.name.as_str(), group.components.len()), ("group 1", 3));
}

#[test]
fn group_has_state_of_its_worst_component() {
    use MonitorStatus::{Active, Error};
    let mut facts = facts_of(&[Active, Error]);
    facts.components = facts.components.into_iter().map(|it| in_group(it, 1, 0)).collect();
    facts.groups = vec![a_group(1)];
    let view = project(&facts);
    let Section::Group(group) = &view.sections[0] else { panic!("there is one group") };
    assert_eq!(group.state, State::Down);
    let today = group.days.as_ref().unwrap().last().unwrap();
    assert_eq!((today.down_ms, today.up_ms), (HOUR as u64, 11 * HOUR as u64));
}

// design: §4 "Deleting a monitor leaves page components that show it … shown as unknown with its history"
#[test]
fn component_of_inactive_monitor_is_unknown_with_history() {
    let monitor = MonitorFacts { runs: false, ..a_monitor(1, MonitorStatus::Error) };
    let view = project(&a_page(vec![a_component(1, Some(monitor))]));
    let component = view.components().next().unwrap();
    assert_eq!(component.state, State::Unknown);
    assert_eq!(component.days.as_ref().unwrap()[DAYS - 1].down_ms, HOUR as u64);
    assert!(!component.is_stale);
}

#[test]
fn unnamed_component_uses_name_of_its_monitor() {
    let mut it = a_component(1, Some(a_monitor(7, MonitorStatus::Active)));
    it.component.settings.name = None;
    assert_eq!(component_names(&project(&a_page(vec![it]))), ["monitor 7"]);
}

#[test]
fn incident_is_shown_once_with_all_components() {
    let monitor = || Some(a_monitor(1, MonitorStatus::Error));
    let mut facts = a_page(vec![a_component(1, monitor()), a_component(2, monitor())]);
    let incident = |number, monitor, opened_at, closed| IncidentFacts {
        id: IncidentId::from_bits(number),
        monitor: MonitorId::from_bits(monitor),
        opened_at,
        closed,
        acknowledged_at: None,
    };
    let over = Some((ago(DAY), crate::judge::CloseReason::Recovered));
    facts.incidents = vec![
        incident(1, 1, ago(2 * DAY), over),
        incident(2, 1, ago(HOUR), None),
        incident(3, 9, ago(HOUR), None),
    ];
    let view = project(&facts);
    let open: Vec<_> = view.open_incidents.iter().map(|it| (it.id, it.names())).collect();
    assert_eq!(open, [(IncidentId::from_bits(2), named(&[1, 2]))]);
    let counts: Vec<_> = view.history.iter().map(|day| day.incidents.len()).collect();
    assert_eq!(counts, [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn upcoming_maintenance_is_planned_and_past_is_history() {
    let mut facts = facts_of(&[MonitorStatus::Active]);
    let later = |seconds| NOW + Duration::from_secs(seconds);
    facts.maintenances = vec![
        a_maintenance(later(7_200), later(9_000), vec![0]),
        a_maintenance(later(60), later(120), vec![0]),
        a_maintenance(ago(2 * HOUR), ago(HOUR), vec![0]),
    ];
    let view = project(&facts);
    let planned: Vec<_> = view.planned.iter().map(|it| (it.window.from, it.is_active)).collect();
    assert_eq!(planned, [(later(60), false), (later(7_200), false)]);
    assert_eq!(view.history[0].maintenances.len(), 1);
    let today = *view.components().next().unwrap().days.as_ref().unwrap().last().unwrap();
    assert_eq!(today.maintenance_ms, HOUR as u64);
}

fn status() -> impl Strategy<Value = MonitorStatus> {
    prop::sample::select(vec![
        MonitorStatus::Active,
        MonitorStatus::Degraded,
        MonitorStatus::Error,
        MonitorStatus::Unknown,
    ])
}

proptest! {
    #[test]
    fn parts_of_a_day_match_its_uptime(
        before in status(),
        mut changes in prop::collection::vec((0..100 * DAY, status()), 0..40),
        windows in prop::collection::vec((0..100 * DAY, 1..2 * DAY), 0..6),
    ) {
        changes.sort_unstable_by_key(|(at, _)| -*at);
        let changes: Vec<_> =
            changes.into_iter().map(|(back, status)| StatusFrom { at: ago(back), status }).collect();
        let window = |(back, long): (i64, i64)| Span { from: ago(back), to: ago(back - long) };
        let windows: Vec<_> = windows.into_iter().map(window).collect();
        let days = days(before, &changes, &windows, NOW);
        prop_assert_eq!(days.len(), DAYS);
        for (place, day) in days.iter().enumerate() {
            let passed = if place + 1 == DAYS { 12 * HOUR } else { DAY } as u64;
            let known = day.up_ms + day.degraded_ms + day.down_ms;
            prop_assert!(known + day.maintenance_ms <= passed);
            prop_assert_eq!(known, day.uptime.map_or(0, |uptime| uptime.known_ms));
            prop_assert_eq!(day.down_ms, day.uptime.map_or(0, |uptime| uptime.error_ms));
        }
    }
}
