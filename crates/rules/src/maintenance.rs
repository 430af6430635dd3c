//! Planned maintenance: the draft of a caller, and the validated settings. `store` checks that the
//! referenced objects exist; `domain` computes the windows.

mod recurrence;

use std::str::FromStr;

pub use recurrence::{Frequency, Recurrence, RecurrenceEnd};

use crate::mask::{self, replace};
use crate::tables::MAINTENANCE;
use crate::{
    ComponentId, Interval, MaintenanceId, MonitorId, TimeZone, Timestamp, Validator, Violations,
    WorkspaceId, limits,
};

/// The field with monitors.
pub const MONITORS: &str = "monitor_ids";
/// Allowed values of that field; the store checks whether a monitor exists.
pub const MONITORS_ALLOWED: &str = "may only name monitors of this workspace";
/// The field with components.
pub const COMPONENTS: &str = "component_ids";
/// Allowed values of that field; the store checks whether a component exists.
pub const COMPONENTS_ALLOWED: &str = "may only name components of this workspace";
/// Requirement for the schedule, as the end of a sentence.
pub const A_WINDOW_AHEAD: &str = "must have a window that is not over yet";

/// A stored maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    pub id: MaintenanceId,
    pub workspace: WorkspaceId,
    /// The user's settings.
    pub settings: MaintenanceSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of a maintenance. Only [`MaintenanceDraft`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceSettings {
    /// 1 to 256 characters.
    pub title: String,
    /// At most 4,096 characters.
    pub description: Option<String>,
    pub schedule: Schedule,
    /// Sorted, without duplicates.
    pub monitor_ids: Vec<MonitorId>,
    /// Sorted, without duplicates. A component covers its monitor.
    pub component_ids: Vec<ComponentId>,
}

/// Schedule of a maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Start of the first window; its local time of day is that of a recurrence.
    pub starts_at: Timestamp,
    /// Duration of each window.
    pub duration: Interval,
    /// Time zone of the recurrence.
    pub time_zone: TimeZone,
    /// Recurrence rule; `None` for a single window.
    pub recurrence: Option<Recurrence>,
}

/// A maintenance as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceDraft {
    pub title: Option<String>,
    pub description: Option<String>,
    /// Start of the first window.
    pub starts_at: Option<Timestamp>,
    /// Duration of each window.
    pub duration: Option<String>,
    /// A name of the IANA time zones.
    pub time_zone: Option<String>,
    /// The value of an RRULE.
    pub recurrence: Option<String>,
    pub monitor_ids: Vec<String>,
    pub component_ids: Vec<String>,
}

impl MaintenanceDraft {
    /// Validates the settings of a new maintenance; returns all violations. Does not check whether
    /// referenced objects exist.
    pub fn parse(self) -> Result<MaintenanceSettings, Violations> {
        self.read(None)
    }

    /// Validates the settings of a maintenance that had `seen`; returns all violations. If all its
    /// monitors and components were deleted, other changes need not add new ones.
    pub fn parse_change(
        self,
        seen: &MaintenanceSettings,
    ) -> Result<MaintenanceSettings, Violations> {
        self.read(Some(seen))
    }

    /// Copies the fields in `mask` from `other`, clearing those that `other` omits. Rejects unknown
    /// names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&MAINTENANCE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Destructured, so that a new field cannot be forgotten here.
        let Self {
            title,
            description,
            starts_at,
            duration,
            time_zone,
            recurrence,
            monitor_ids,
            component_ids,
        } = other;
        replace(&mut self.title, title, named("title"));
        replace(&mut self.description, description, named("description"));
        replace(&mut self.starts_at, starts_at, named("starts_at"));
        replace(&mut self.duration, duration, named("duration"));
        replace(&mut self.time_zone, time_zone, named("time_zone"));
        replace(&mut self.recurrence, recurrence, named("recurrence"));
        replace(&mut self.monitor_ids, monitor_ids, named(MONITORS));
        replace(&mut self.component_ids, component_ids, named(COMPONENTS));
        Ok(())
    }

    fn read(self, seen: Option<&MaintenanceSettings>) -> Result<MaintenanceSettings, Violations> {
        let mut validator = Validator::new(&MAINTENANCE);
        let settings = settings(&mut validator, self, seen);
        validator.finish(settings)
    }
}

impl MaintenanceSettings {
    /// Returns whether it has neither monitors nor components, because they were deleted.
    pub fn is_without_targets(&self) -> bool {
        self.monitor_ids.is_empty() && self.component_ids.is_empty()
    }
}

impl From<&MaintenanceSettings> for MaintenanceDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &MaintenanceSettings) -> Self {
        let schedule = &settings.schedule;
        Self {
            title: Some(settings.title.clone()),
            description: settings.description.clone(),
            starts_at: Some(schedule.starts_at),
            duration: Some(schedule.duration.to_string()),
            time_zone: Some(schedule.time_zone.to_string()),
            recurrence: schedule.recurrence.as_ref().map(ToString::to_string),
            monitor_ids: settings.monitor_ids.iter().map(ToString::to_string).collect(),
            component_ids: settings.component_ids.iter().map(ToString::to_string).collect(),
        }
    }
}

fn settings(
    validator: &mut Validator,
    draft: MaintenanceDraft,
    seen: Option<&MaintenanceSettings>,
) -> Option<MaintenanceSettings> {
    let names_nothing = draft.monitor_ids.is_empty() && draft.component_ids.is_empty();
    if names_nothing && !seen.is_some_and(MaintenanceSettings::is_without_targets) {
        let allowed = format!("must name a monitor unless `{COMPONENTS}` names a component");
        let _: Option<()> = validator.reject_without_value(MONITORS, allowed);
    }
    let title = validator.text("title", draft.title);
    let description = validator.text("description", draft.description);
    let starts_at = starts_at(validator, draft.starts_at);
    let duration = validator.text("duration", draft.duration);
    let time_zone = validator.text("time_zone", draft.time_zone);
    let recurrence = validator.text("recurrence", draft.recurrence);
    let recurrence = recurrence.and_then(|text| match Recurrence::parse(&text) {
        Ok(recurrence) => Some(recurrence),
        Err(refusal) => validator.refuse("recurrence", text, refusal.0),
    });
    let monitor_ids = ids(validator, MONITORS, draft.monitor_ids, MONITORS_ALLOWED);
    let component_ids = ids(validator, COMPONENTS, draft.component_ids, COMPONENTS_ALLOWED);
    let held = "the field was validated with this format";
    let schedule = Schedule {
        starts_at: starts_at?,
        duration: Interval::parse(&duration?).expect(held),
        time_zone: TimeZone::parse(&time_zone?).expect(held),
        recurrence,
    };
    Some(MaintenanceSettings { title: title?, description, schedule, monitor_ids, component_ids })
}

fn starts_at(validator: &mut Validator, given: Option<Timestamp>) -> Option<Timestamp> {
    let (min, max) = (limits::MAINTENANCE_STARTS_MIN, limits::MAINTENANCE_STARTS_MAX);
    let at = validator.instant("starts_at", given)?;
    if (min..=max).contains(&at) {
        return Some(at);
    }
    validator.refuse("starts_at", at, format!("must be from {min} to {max}"))
}

/// Parses IDs. A text with the right prefix that does not parse matches nothing.
fn ids<Id: FromStr>(
    validator: &mut Validator,
    field: &str,
    given: Vec<String>,
    allowed: &str,
) -> Vec<Id> {
    let given = validator.id_set(field, given);
    let mut ids = Vec::with_capacity(given.len());
    for text in given {
        match text.parse() {
            Ok(id) => ids.push(id),
            Err(_) => ids.extend(validator.refuse::<Id>(field, text, allowed)),
        }
    }
    ids
}
