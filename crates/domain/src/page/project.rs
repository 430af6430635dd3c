//! Builds the view of a page from stored facts.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use rules::{ComponentId, GroupId, MonitorId, MonitorStatus, Timestamp};

use super::day::{DAY_MS, Day, day_of, days};
use super::facts::{ComponentFacts, Facts, IncidentFacts, MaintenanceFacts, MonitorFacts};
use super::overall_status::overall_status;
use super::report;
use super::state::State;
use super::view::{
    ComponentView, GroupView, HistoryDay, IncidentView, MaintenanceView, NamedComponent, PageView,
    ReportView, Section,
};
use super::{DAYS, HISTORY_DAYS};
use crate::history::{Span, StatusFrom, uptime};

/// Builds the view of the page at the time of the facts.
pub fn project(facts: &Facts) -> PageView {
    let order = order(facts);
    let now = facts.read_at;
    let reported = report::reported_states(&facts.reports);
    let planned = windows_of(facts);
    let views: Vec<ComponentView> =
        order.iter().map(|place| component(facts, *place, &reported, &planned[*place])).collect();
    let overall_status = overall_status(facts, &views);
    let names = Names::new(facts, &order, &views);
    let mut incidents: Vec<IncidentView> =
        facts.incidents.iter().filter_map(|incident| names.incident(incident)).collect();
    incidents.sort_unstable_by_key(|incident| (Reverse(incident.opened_at), incident.id));
    let mut windows: Vec<MaintenanceView> =
        facts.maintenances.iter().map(|window| names.maintenance(window, now)).collect();
    windows.sort_unstable_by_key(|window| (window.window.from, window.id));
    let reports = report::views(&facts.reports, &names.component_names());
    let history = history(&reports, &incidents, &windows, now);
    PageView {
        at: now,
        overall_status,
        reports,
        open_incidents: incidents
            .into_iter()
            .filter(|incident| incident.closed.is_none())
            .collect(),
        sections: sections(facts, &order, views),
        planned: windows.into_iter().filter(|window| now < window.window.to).collect(),
        history,
    }
}

/// Returns the indexes of the components in the order of the page: by `order`, unordered ones last;
/// within a group by `group_order`. A group takes the position of its first component.
fn order(facts: &Facts) -> Vec<usize> {
    let last = i64::from(i32::MAX) + 1;
    let place = |order: Option<i32>| order.map_or(last, i64::from);
    let own = |it: &ComponentFacts| (place(it.component.settings.order), it.component.id);
    let mut first: HashMap<GroupId, _> = HashMap::new();
    for it in &facts.components {
        if let Some(group) = it.component.settings.group_id {
            let begins = first.entry(group).or_insert_with(|| own(it));
            *begins = own(it).min(*begins);
        }
    }
    let mut order: Vec<usize> = (0..facts.components.len()).collect();
    order.sort_by_key(|index| {
        let it = &facts.components[*index];
        let settings = &it.component.settings;
        match settings.group_id {
            Some(group) => (first[&group], place(settings.group_order), own(it)),
            None => (own(it), 0, own(it)),
        }
    });
    order
}

/// Returns the maintenance windows of each component, by index.
fn windows_of(facts: &Facts) -> Vec<Vec<Span>> {
    let mut windows = vec![Vec::new(); facts.components.len()];
    for it in &facts.maintenances {
        for place in &it.components {
            windows[*place].push(it.window);
        }
    }
    windows
}

fn component(
    facts: &Facts,
    place: usize,
    reported: &HashMap<ComponentId, (State, Timestamp)>,
    windows: &[Span],
) -> ComponentView {
    let ComponentFacts { component, monitor } = &facts.components[place];
    let (settings, now) = (&component.settings, facts.read_at);
    let on = windows.iter().filter(|window| window.from <= now && now < window.to);
    let under_maintenance = on.map(|window| window.from).min();
    let monitor = monitor.as_deref();
    let status = match monitor {
        Some(monitor) if monitor.runs => monitor.status(),
        Some(_) => MonitorStatus::Unknown,
        // The state of a component without a monitor comes from reports; without reports it is up.
        None => MonitorStatus::Active,
    };
    let state = match under_maintenance {
        Some(_) => State::Maintenance,
        None => State::from_status(status),
    };
    let since = under_maintenance.or_else(|| monitor.and_then(MonitorFacts::since));
    let (state, since) = match reported.get(&component.id) {
        Some((reported, from)) if *reported > state => (*reported, Some(*from)),
        Some(_) | None => (state, since),
    };
    let range = Span { from: first_day(now), to: now };
    // The history of a component without a monitor comes from reports.
    let tracked = match monitor {
        Some(_) => Vec::new(),
        None => report::status_history(&facts.reports, component, range),
    };
    let past: Option<(MonitorStatus, &[StatusFrom])> = match monitor {
        Some(monitor) => Some((monitor.before, &monitor.changes)),
        None => (!tracked.is_empty()).then_some((MonitorStatus::Unknown, &tracked[..])),
    };
    let name = settings.name.clone().or_else(|| monitor.map(|monitor| monitor.name.clone()));
    ComponentView {
        id: component.id,
        name: name.unwrap_or_else(|| component.id.to_string()),
        created_at: component.created_at,
        updated_at: component.updated_at,
        description: settings.description.clone(),
        state,
        since,
        is_stale: monitor.is_some_and(|monitor| is_stale(monitor, now)),
        uptime: past.and_then(|(before, changes)| uptime(before, changes, windows, range)),
        days: past.map(|(before, changes)| days(before, changes, windows, now)),
        monitor: monitor.map(|monitor| monitor.id),
        is_public: monitor.is_some_and(|monitor| monitor.public),
    }
}

/// Returns the begin of the first day of the bars.
fn first_day(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(day_of(now).as_millis() - (DAYS as i64 - 1) * DAY_MS)
}

/// Returns whether the last check of an active monitor is older than two periods (issue "Status
/// pages"); false for a monitor without checks.
fn is_stale(monitor: &MonitorFacts, now: Timestamp) -> bool {
    let is_old = |checked: Timestamp| now.since(checked) > 2 * monitor.period;
    monitor.runs && monitor.checked_at.is_some_and(is_old)
}

fn sections(facts: &Facts, order: &[usize], views: Vec<ComponentView>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (place, view) in order.iter().zip(views) {
        let group = facts.components[*place].component.settings.group_id;
        let known = group.and_then(|id| facts.groups.iter().find(|group| group.id == id));
        match (known, sections.last_mut()) {
            (None, _) => sections.push(Section::Single(view)),
            (Some(group), Some(Section::Group(last))) if last.id == group.id => {
                last.components.push(view);
            }
            (Some(group), _) => sections.push(Section::Group(GroupView {
                id: group.id,
                name: group.settings.name.clone(),
                created_at: group.created_at,
                updated_at: group.updated_at,
                state: view.state,
                days: None,
                components: vec![view],
            })),
        }
    }
    for section in &mut sections {
        if let Section::Group(group) = section {
            let states = group.components.iter().map(|component| component.state);
            group.state = states.max().expect("a group has at least one component");
            group.days = worst_days(&group.components);
        }
    }
    sections
}

/// Returns the worst component's bar for each day: longest down, then longest degraded.
fn worst_days(components: &[ComponentView]) -> Option<Vec<Day>> {
    let mut worst: Option<Vec<Day>> = None;
    let badness = |day: &Day| (day.down_ms, day.degraded_ms, day.maintenance_ms, day.up_ms);
    for days in components.iter().filter_map(|component| component.days.as_ref()) {
        match &mut worst {
            None => worst = Some(days.clone()),
            Some(worst) => {
                for (known, day) in worst.iter_mut().zip(days) {
                    if badness(day) > badness(known) {
                        *known = *day;
                    }
                }
            }
        }
    }
    worst
}

/// Returns the last [`HISTORY_DAYS`], today first.
fn history(
    reports: &[Arc<ReportView>],
    incidents: &[IncidentView],
    windows: &[MaintenanceView],
    now: Timestamp,
) -> Vec<HistoryDay> {
    let today = day_of(now).as_millis();
    let begins = (0..HISTORY_DAYS as i64).map(|back| today - back * DAY_MS);
    let day = |begins: Timestamp| HistoryDay {
        begins,
        reports: reports.iter().filter(|it| day_of(it.started_at) == begins).cloned().collect(),
        incidents: incidents.iter().filter(|it| day_of(it.opened_at) == begins).cloned().collect(),
        maintenances: windows
            .iter()
            .rev()
            .filter(|it| it.window.to <= now && day_of(it.window.from) == begins)
            .cloned()
            .collect(),
    };
    begins.map(|begins| day(Timestamp::from_millis(begins))).collect()
}

/// Component names for incidents and maintenances.
struct Names<'a> {
    /// In the order of the page: index in the facts, monitor, component.
    components: Vec<(usize, Option<MonitorId>, &'a ComponentView)>,
}

impl<'a> Names<'a> {
    fn new(facts: &Facts, order: &[usize], views: &'a [ComponentView]) -> Self {
        let monitor = |place: usize| facts.components[place].monitor.as_ref().map(|it| it.id);
        let named = order.iter().zip(views);
        Self { components: named.map(|(place, view)| (*place, monitor(*place), view)).collect() }
    }

    fn component_names(&self) -> Vec<(ComponentId, &'a str)> {
        self.components.iter().map(|it| (it.2.id, it.2.name.as_str())).collect()
    }

    /// Creates the view of an incident, or returns `None` if no component shows its monitor.
    fn incident(&self, incident: &IncidentFacts) -> Option<IncidentView> {
        let shown = self.components.iter().filter(|it| it.1 == Some(incident.monitor));
        let components: Vec<NamedComponent> = shown.map(|it| it.2.named()).collect();
        (!components.is_empty()).then_some(IncidentView {
            id: incident.id,
            components,
            opened_at: incident.opened_at,
            closed: incident.closed,
            acknowledged_at: incident.acknowledged_at,
        })
    }

    fn maintenance(&self, it: &MaintenanceFacts, now: Timestamp) -> MaintenanceView {
        let about = self.components.iter().filter(|known| it.components.contains(&known.0));
        MaintenanceView {
            id: it.id,
            title: it.title.clone(),
            description: it.description.clone(),
            window: it.window,
            is_recurring: it.is_recurring,
            created_at: it.created_at,
            updated_at: it.updated_at,
            is_active: it.window.from <= now && now < it.window.to,
            components: about.map(|known| known.2.named()).collect(),
        }
    }
}
