//! The effect of reports on components, and their view.

use rules::report::{ComponentImpact, Impact, Report, ReportStatus, ReportUpdate};
use rules::{ReportId, UpdateId};

use super::*;

/// An update: age, status, and impact per component.
type UpdateRow<'a> = (i64, ReportStatus, &'a [(u64, Impact)]);

/// Returns a report with these updates, oldest first.
fn a_report(number: u64, updates: &[UpdateRow<'_>]) -> Report {
    let impacts = |(place, (back, status, components)): (usize, &UpdateRow<'_>)| ReportUpdate {
        id: UpdateId::from_bits(number * 100 + place as u64),
        status: *status,
        text: format!("update {place}"),
        at: ago(*back),
        components: components
            .iter()
            .map(|(component, impact)| ComponentImpact {
                component: ComponentId::from_bits(*component),
                impact: *impact,
            })
            .collect(),
        notified: true,
        created_at: NOW,
        updated_at: NOW,
    };
    Report {
        id: ReportId::from_bits(number),
        workspace: WORKSPACE,
        page: PAGE,
        title: format!("report {number}"),
        updates: updates.iter().enumerate().map(impacts).rev().collect(),
        started_at: ago(updates[0].0),
        created_at: NOW,
        updated_at: NOW,
    }
}

fn with(mut facts: Facts, reports: Vec<Report>) -> PageView {
    facts.reports = reports;
    project(&facts)
}

fn states(view: &PageView) -> Vec<(State, Option<Timestamp>)> {
    view.components().map(|component| (component.state, component.since)).collect()
}

const LOOKING: ReportStatus = ReportStatus::Investigating;
const OVER: ReportStatus = ReportStatus::Resolved;

#[test]
fn worse_state_of_monitor_and_report_is_shown() {
    // issue 7 point 3: "impact per component"
    for (status, impact, state, is_since_the_report) in [
        (MonitorStatus::Active, Impact::Degraded, State::Degraded, true),
        (MonitorStatus::Unknown, Impact::Degraded, State::Degraded, true),
        (MonitorStatus::Degraded, Impact::Down, State::Down, true),
        (MonitorStatus::Degraded, Impact::Degraded, State::Degraded, false),
        (MonitorStatus::Error, Impact::Degraded, State::Down, false),
    ] {
        let report = a_report(1, &[(DAY, LOOKING, &[(1, impact)])]);
        let view = with(facts_of(&[status]), vec![report]);
        let since = if is_since_the_report { ago(DAY) } else { ago(HOUR) };
        assert_eq!(states(&view), [(state, Some(since))], "{status} and {impact}");
        assert_eq!(view.overall_status.state, state);
    }
}

#[test]
fn open_report_overrides_maintenance_and_resolved_does_not() {
    let mut facts = facts_of(&[MonitorStatus::Active]);
    facts.maintenances.push(a_maintenance(ago(HOUR), ago(-HOUR), vec![0]));
    let open = a_report(1, &[(60_000, LOOKING, &[(1, Impact::Down)])]);
    let view = with(facts.clone(), vec![open]);
    assert_eq!(states(&view), [(State::Down, Some(ago(60_000)))]);
    assert_eq!(view.overall_status.summary, StatusSummary::AllDown);
    let resolved =
        a_report(1, &[(DAY, LOOKING, &[(1, Impact::Down)]), (HOUR, OVER, &[(1, Impact::Down)])]);
    let view = with(facts, vec![resolved]);
    assert_eq!(view.overall_status.state, State::Maintenance);
    assert_eq!(view.open_reports().count(), 0);
    assert_eq!((view.reports[0].state, view.reports[0].resolved_at), (State::Up, Some(ago(HOUR))));
    assert_eq!(view.reports[0].worst, Some(Impact::Down));
}

#[test]
fn worst_report_counts_and_oldest_among_equals() {
    let reports = vec![
        a_report(1, &[(2 * HOUR, LOOKING, &[(1, Impact::Degraded)])]),
        a_report(2, &[(HOUR, LOOKING, &[(1, Impact::Down)])]),
        a_report(
            3,
            &[
                (3 * HOUR, LOOKING, &[(1, Impact::Degraded)]),
                (60_000, LOOKING, &[(1, Impact::Down)]),
            ],
        ),
    ];
    let view = with(a_page(vec![a_component(1, None)]), reports);
    assert_eq!(states(&view), [(State::Down, Some(ago(HOUR)))]);
    let shown: Vec<_> = view.reports.iter().map(|report| report.id.bits()).collect();
    assert_eq!(shown, [2, 1, 3], "the latest start comes first");
}

#[test]
fn report_view_orders_components_and_updates() {
    let mut facts = facts_of(&[MonitorStatus::Active, MonitorStatus::Active]);
    facts.components[0].component.settings.order = Some(2);
    facts.components[1].component.settings.order = Some(1);
    let report = a_report(
        1,
        &[
            (2 * DAY, LOOKING, &[(1, Impact::Down)]),
            (
                HOUR,
                ReportStatus::Identified,
                &[(1, Impact::Degraded), (2, Impact::Degraded), (9, Impact::Down)],
            ),
        ],
    );
    let view = with(facts, vec![report.clone()]);
    let shown = &view.reports[0];
    let names: Vec<_> = shown.components.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["component 2", "component 1"], "removed components are omitted");
    assert_eq!((shown.status, shown.state), (ReportStatus::Identified, State::Degraded));
    assert_eq!((shown.started_at, shown.last_update_at), (ago(2 * DAY), ago(HOUR)));
    let texts: Vec<_> = shown.updates.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["update 1", "update 0"]);
    assert_eq!(view.history[2].reports, view.reports);
    assert_eq!(view.report(&report), **shown);
    let bare = with(facts_of(&[MonitorStatus::Active]), vec![a_report(1, &[(HOUR, LOOKING, &[])])]);
    assert_eq!((bare.overall_status.state, bare.reports[0].state), (State::Up, State::Unknown));
}

#[test]
fn bars_without_monitor_follow_reports() {
    // issue 7 point 3
    let mut component = a_component(1, None);
    component.component.created_at = ago(10 * DAY);
    let facts = a_page(vec![component]);
    let days = |reports: Vec<Report>| {
        let view = with(facts.clone(), reports);
        let component = view.components().next().unwrap().clone();
        (component.days, component.uptime)
    };
    assert_eq!(days(Vec::new()), (None, None), "no monitor and no report");
    let report = a_report(
        1,
        &[
            (3 * DAY, LOOKING, &[(1, Impact::Down)]),
            (3 * DAY - HOUR, ReportStatus::Identified, &[(1, Impact::Degraded)]),
            (3 * DAY - 3 * HOUR, OVER, &[(1, Impact::Degraded)]),
        ],
    );
    let (shown, uptime) = days(vec![report.clone()]);
    let shown = shown.unwrap();
    let day = shown[DAYS - 4];
    assert_eq!((day.down_ms, day.degraded_ms), (HOUR as u64, 2 * HOUR as u64));
    assert_eq!((shown[DAYS - 3].up_ms, shown[DAYS - 3].down_ms), (DAY as u64, 0));
    assert_eq!(shown[DAYS - 20].uptime, None, "the component did not exist yet");
    assert_eq!(uptime.unwrap().error_ms, HOUR as u64);
    assert_eq!(uptime.unwrap().known_ms, 10 * DAY as u64);
    let over = a_report(2, &[(200 * DAY, LOOKING, &[(1, Impact::Down)]), (199 * DAY, OVER, &[])]);
    assert_eq!(days(vec![over]).0, None, "the report is too old");
    let open = a_report(3, &[(HOUR, LOOKING, &[(1, Impact::Down)])]);
    let (shown, _) = days(vec![report, open]);
    assert_eq!(shown.unwrap()[DAYS - 1].down_ms, HOUR as u64);
}

proptest! {
    #[test]
    fn report_never_improves_a_state(statuses in prop::collection::vec(0..4_usize, 1..4), says in prop::collection::vec((0..4_u64, any::<bool>()), 0..4)) {
        let all = [MonitorStatus::Active, MonitorStatus::Degraded, MonitorStatus::Error, MonitorStatus::Unknown];
        let statuses: Vec<_> = statuses.into_iter().map(|it| all[it]).collect();
        let impacts: Vec<_> = says.into_iter().map(|(it, down)| (it, if down { Impact::Down } else { Impact::Degraded })).collect();
        let without = with(facts_of(&statuses), Vec::new());
        let shown = with(facts_of(&statuses), vec![a_report(1, &[(HOUR, LOOKING, &impacts)])]);
        for (before, after) in without.components().zip(shown.components()) {
            prop_assert!(before.state <= after.state);
            prop_assert_eq!(&before.days, &after.days, "a report does not change a monitor's bars");
        }
        prop_assert!(without.overall_status.state.is_problem() <= shown.overall_status.state.is_problem());
    }
}
