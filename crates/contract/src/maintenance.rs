//! Converts `maintenance.v1` between the wire and `rules`: requests to drafts, stored maintenances
//! to responses. Validation belongs to `rules`.

use rules::Timestamp;
use rules::maintenance::{Maintenance, MaintenanceDraft};

use crate::IntoDraft;
use crate::monitor::{decode_instant, encode_instant, revision};

/// Messages and service generated from `proto/maintenance/v1/maintenance.proto`. A message
/// becomes a field by `into()`.
pub mod wire {
    pub use crate::monitor::wire::{FieldMask, MessageField, Timestamp};
    pub use proto::maintenance::v1::*;
}

/// Placeholder for a time out of range. Validation rejects it by its field.
const UNCOUNTED: Timestamp = Timestamp::from_millis(i64::MAX);

/// Computed state of a maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaintenanceProgress {
    /// Status, as a word.
    pub status: &'static str,
    /// Start and end of the active window.
    pub current: Option<(Timestamp, Timestamp)>,
    /// Start and end of the next window.
    pub next: Option<(Timestamp, Timestamp)>,
}

impl IntoDraft for wire::Maintenance {
    type Draft = MaintenanceDraft;

    fn into_draft(self) -> MaintenanceDraft {
        let starts_at = self.starts_at.as_option();
        MaintenanceDraft {
            title: self.title,
            description: self.description,
            starts_at: starts_at.map(|at| decode_instant(at).unwrap_or(UNCOUNTED)),
            duration: self.duration,
            time_zone: self.time_zone,
            recurrence: self.recurrence,
            monitor_ids: self.monitor_ids,
            component_ids: self.component_ids,
        }
    }
}

/// Encodes a maintenance.
pub fn encode(maintenance: &Maintenance, progress: MaintenanceProgress) -> wire::Maintenance {
    let settings = &maintenance.settings;
    let schedule = &settings.schedule;
    wire::Maintenance {
        id: Some(maintenance.id.to_string()),
        title: Some(settings.title.clone()),
        description: settings.description.clone(),
        starts_at: encode_instant(schedule.starts_at),
        duration: Some(schedule.duration.to_string()),
        time_zone: Some(schedule.time_zone.to_string()),
        recurrence: schedule.recurrence.as_ref().map(ToString::to_string),
        monitor_ids: settings.monitor_ids.iter().map(ToString::to_string).collect(),
        component_ids: settings.component_ids.iter().map(ToString::to_string).collect(),
        status: Some(progress.status.to_owned()),
        current_window: progress.current.map(window).into(),
        next_window: progress.next.map(window).into(),
        created_at: encode_instant(maintenance.created_at),
        updated_at: encode_instant(maintenance.updated_at),
        revision: Some(revision(maintenance.updated_at)),
    }
}

fn window((from, until): (Timestamp, Timestamp)) -> wire::Window {
    wire::Window { starts_at: encode_instant(from), ends_at: encode_instant(until) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rules::maintenance::{MaintenanceSettings, Recurrence, Schedule};
    use rules::{ComponentId, Interval, MaintenanceId, MonitorId, TimeZone, WorkspaceId, tables};

    use super::*;
    use crate::rpc::field_names;

    const AT: Timestamp = Timestamp::from_millis(1_500);

    /// Creates a maintenance with every argument set.
    fn full() -> Maintenance {
        Maintenance {
            id: MaintenanceId::from_bits(7),
            workspace: WorkspaceId::from_bits(1),
            settings: MaintenanceSettings {
                title: "Moving".to_owned(),
                description: Some(String::new()),
                schedule: Schedule {
                    starts_at: AT,
                    duration: Interval::parse("60m").unwrap(),
                    time_zone: TimeZone::parse("Europe/Berlin").unwrap(),
                    recurrence: Some(Recurrence::parse("freq=weekly;byday=su").unwrap()),
                },
                monitor_ids: vec![MonitorId::from_bits(7)],
                component_ids: vec![ComponentId::from_bits(7)],
            },
            created_at: AT,
            updated_at: AT,
        }
    }

    #[test]
    fn encoded_maintenance_decodes_equal() {
        // design: §4, a created object reads back equal
        let standing =
            MaintenanceProgress { status: "active", current: Some((AT, AT)), next: None };
        let answer = encode(&full(), standing);
        let json = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(json, @r#"{"id":"mnt_0000000000007","title":"Moving","description":"","startsAt":"1970-01-01T00:00:01.500Z","duration":"60m","timeZone":"Europe/Berlin","recurrence":"freq=weekly;byday=su","monitorIds":["mon_0000000000007"],"componentIds":["cmp_0000000000007"],"status":"active","currentWindow":{"startsAt":"1970-01-01T00:00:01.500Z","endsAt":"1970-01-01T00:00:01.500Z"},"createdAt":"1970-01-01T00:00:01.500Z","updatedAt":"1970-01-01T00:00:01.500Z","revision":"1500"}"#);
        let read: wire::Maintenance = serde_json::from_str(&json).unwrap();
        assert_eq!(read.into_draft(), MaintenanceDraft::from(&full().settings));
    }

    #[test]
    fn instant_out_of_range_is_rejected() {
        let starts_at = wire::Timestamp { seconds: i64::MAX, ..Default::default() };
        let given = wire::Maintenance { starts_at: starts_at.into(), ..Default::default() };
        assert_eq!(given.into_draft().starts_at, Some(UNCOUNTED));
    }

    #[test]
    fn wire_fields_match_the_table() {
        // Fails if only one side has a new field. Each window has two fields that no resource table
        // contains.
        let table = &tables::MAINTENANCE;
        let fields = table.fields.iter().chain(table.beyond).map(|field| field.name);
        let fields = fields.chain(["current_window", "next_window"]);
        let on_the_wire = field_names("maintenance.v1.Maintenance").unwrap();
        assert_eq!(on_the_wire.collect::<BTreeSet<_>>(), fields.collect());
    }
}
