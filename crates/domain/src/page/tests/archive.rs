//! The archive of a page.

use super::*;
use crate::judge::CloseReason;

/// Returns the month that is `back` months before [`NOW`].
fn month(back: usize) -> Month {
    (0..back).fold(Month::containing(NOW), |month, _| month.previous())
}

fn an_incident(number: u64, monitor: u64, opened_at: Timestamp) -> IncidentFacts {
    IncidentFacts {
        id: IncidentId::from_bits(number),
        monitor: MonitorId::from_bits(monitor),
        opened_at,
        closed: Some((opened_at + Duration::from_mins(5), CloseReason::Recovered)),
        acknowledged_at: None,
    }
}

#[test]
fn incident_shows_current_names_of_its_components() {
    let view = project(&a_page(vec![
        a_component(1, Some(a_monitor(1, MonitorStatus::Active))),
        a_component(2, None),
        a_component(3, Some(a_monitor(1, MonitorStatus::Active))),
    ]));
    let shown = view.incident(&an_incident(7, 1, ago(200 * DAY))).unwrap();
    assert_eq!((shown.id, shown.names()), (IncidentId::from_bits(7), named(&[1, 3])));
    assert_eq!(view.incident(&an_incident(8, 2, ago(HOUR))), None);
}

#[test]
fn month_shows_its_days_latest_first() {
    let view = project(&facts_of(&[MonitorStatus::Active, MonitorStatus::Active]));
    let begins = month(2).span().from;
    let later = |days: u32| begins + Duration::from_hours(24) * days + Duration::from_mins(1);
    let facts = ArchiveFacts {
        incidents: vec![
            an_incident(1, 1, later(1)),
            an_incident(2, 2, later(20)),
            an_incident(3, 2, ago(HOUR)),
            an_incident(4, 9, later(3)),
        ],
        maintenances: vec![
            a_maintenance(later(20), later(21), vec![1, 0]),
            a_maintenance(begins - Duration::from_secs(1), later(2), vec![0]),
        ],
        first: Some(ago(200 * DAY)),
        ..ArchiveFacts::default()
    };
    let shown = view.month(month(2), &facts).unwrap();
    let days: Vec<_> =
        shown.days.iter().map(|day| (day.incidents.len(), day.maintenances.len())).collect();
    assert_eq!(days, [(1, 1), (1, 0)]);
    assert_eq!(shown.days[0].maintenances[0].names(), named(&[1, 2]));
    assert_eq!((shown.earlier, shown.later), (Some(month(3)), Some(month(1))));
}

#[test]
fn months_range_from_oldest_data_to_now() {
    let view = project(&facts_of(&[MonitorStatus::Active]));
    let kept = |first| ArchiveFacts { first, ..ArchiveFacts::default() };
    let nothing = kept(None);
    let now = view.month(month(0), &nothing).unwrap();
    assert_eq!((now.days.len(), now.earlier, now.later), (0, None, None));
    assert_eq!(view.month(month(1), &nothing), None);
    let old = kept(Some(month(2).span().from));
    assert_eq!(view.month(month(2), &old).unwrap().earlier, None);
    assert!(view.month(month(1), &old).unwrap().days.is_empty(), "an empty month has no days");
    assert_eq!(view.month(month(3), &old), None);
    assert_eq!(view.month(month(0).next(), &old), None);
}

#[test]
fn upcoming_maintenance_is_not_archived() {
    let view = project(&facts_of(&[MonitorStatus::Active]));
    let minute = Duration::from_mins(1);
    let on = a_maintenance(NOW - minute, NOW + minute, vec![0]);
    let later = a_maintenance(NOW + minute, NOW + 2 * minute, vec![0]);
    let facts = ArchiveFacts { maintenances: vec![on, later], ..ArchiveFacts::default() };
    let shown = view.month(month(0), &facts).unwrap();
    let on: Vec<_> =
        shown.days.iter().flat_map(|day| &day.maintenances).map(|it| it.is_active).collect();
    assert_eq!(on, [true]);
}

#[test]
fn uptime_of_days_sums_their_time() {
    let view = project(&facts_of(&[MonitorStatus::Error]));
    let component = view.components().next().unwrap();
    let days = component.days.as_ref().unwrap();
    assert_eq!(uptime_of(days), component.uptime);
    let today = uptime_of(&days[DAYS - 1..]).unwrap();
    assert_eq!((today.known_ms, today.error_ms), (12 * HOUR as u64, HOUR as u64));
    assert_eq!(uptime_of(&[]), None);
}
