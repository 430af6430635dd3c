//! Maintenance as a calendar, parsed by a third-party library.

use std::time::Duration;

use icalendar::{Calendar, CalendarComponent, Component as _, Event};
use serde_json::{Value, json};
use testkit::server::MAINTENANCES;

use super::super::{Site, well};
use super::{header, published, text};

/// Returns the events of the page's calendar.
async fn events(site: &Site) -> Vec<Event> {
    let reply = site.visit("/maintenance.ics", &[]).await;
    assert_eq!(header(&reply, "content-type"), "text/calendar; charset=utf-8");
    let ics = text(&reply);
    for line in ics.split_terminator("\r\n") {
        assert!(line.len() <= 75 && !line.contains(['\r', '\n']), "{} octets: {line}", line.len());
    }
    let calendar: Calendar = ics.parse().unwrap();
    let event = |component: &CalendarComponent| component.as_event().cloned();
    calendar.components.iter().filter_map(event).collect()
}

fn value<'a>(event: &'a Event, name: &str) -> &'a str {
    event.property_value(name).unwrap_or_else(|| panic!("no {name} in {event:?}"))
}

/// Changes one field of a maintenance.
async fn edit(site: &Site, maintenance: &Value, field: &str, value: Value) {
    let change = json!({ "id": maintenance["id"], field: value });
    let request = json!({ "maintenance": change, "updateMask": field });
    let reply = site.owner.call(MAINTENANCES, "UpdateMaintenance", request).await;
    assert_eq!(reply.status, 200, "{reply}");
}

// issue 7: "iCalendar of maintenance", "iCalendar parsed by a library"
#[tokio::test]
async fn calendar_contains_planned_maintenance() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    assert!(events(&site).await.is_empty());
    let title =
        "Moving; to 界 & beyond, with everything that stands in the hall and all its cables";
    let planned = json!({
        "title": title, "description": "First line\nSecond: 100 %", "duration": "90m",
        "startsAt": "2026-11-22T06:00:00Z", "componentIds": [site.component().await],
    });
    let planned = site.plan(planned).await;
    let read = events(&site).await;
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].get_summary(), Some(title));
    let about = "First line\nSecond: 100 %\n\nComponents: API & more";
    assert_eq!(read[0].get_description(), Some(about));
    for (name, due) in [
        ("UID", format!("{}@aloft", planned["id"].as_str().unwrap()).as_str()),
        ("DTSTART", "20261122T060000Z"),
        ("DTEND", "20261122T073000Z"),
        ("CREATED", "20261121T000000Z"),
        ("SEQUENCE", "0"),
        ("STATUS", "CONFIRMED"),
        ("URL", "https://up.example/status/acme"),
    ] {
        assert_eq!(value(&read[0], name), due, "{name}");
    }
    let categories: Vec<_> = read[0].multi_properties()["CATEGORIES"].iter().collect();
    assert_eq!(categories.iter().map(|it| it.value()).collect::<Vec<_>>(), ["Maintenance"]);
    // A rescheduled event keeps its identity.
    site.watched.server.advance(Duration::from_secs(90));
    edit(&site, &planned, "startsAt", json!("2026-11-23T06:00:00Z")).await;
    let moved = events(&site).await;
    assert_eq!(moved.len(), 1);
    assert_eq!(value(&moved[0], "UID"), value(&read[0], "UID"));
    assert_eq!(value(&moved[0], "DTSTART"), "20261123T060000Z");
    assert_eq!(value(&moved[0], "SEQUENCE"), "90");
    assert_eq!(value(&moved[0], "LAST-MODIFIED"), "20261121T000130Z");
}

#[tokio::test]
async fn recurring_maintenance_has_one_event_per_occurrence() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    let weekly = json!({
        "title": "Restart", "duration": "10m", "startsAt": "2026-11-22T06:00:00Z",
        "recurrence": "FREQ=WEEKLY;COUNT=3", "componentIds": [site.component().await],
    });
    site.plan(weekly).await;
    let read = events(&site).await;
    let starts: Vec<_> = read.iter().map(|event| value(event, "DTSTART")).collect();
    assert_eq!(starts, ["20261122T060000Z", "20261129T060000Z", "20261206T060000Z"]);
    let mut names: Vec<_> = read.iter().map(|event| value(event, "UID")).collect();
    names.dedup();
    assert_eq!(names.len(), 3);
}
