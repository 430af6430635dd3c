//! Planned maintenance: what a user wrote (the draft), and the same once every rule held (the
//! settings). Whether what it names is there is asked by `store`; when its windows are is worked out
//! by `domain`.

mod recurrence;

use std::str::FromStr;

pub use recurrence::{Frequency, Recurrence, RecurrenceEnd};

use crate::mask::{self, replace};
use crate::tables::MAINTENANCE;
use crate::{
    ComponentId, Interval, MaintenanceId, MonitorId, Reader, TimeZone, Timestamp, Violations,
    WorkspaceId, limits,
};

/// The field that names monitors.
pub const MONITORS: &str = "monitor_ids";
/// What that field may hold; whether a monitor is there is asked of the store.
pub const MONITORS_ALLOWED: &str = "may only name monitors of this workspace";
/// The field that names components.
pub const COMPONENTS: &str = "component_ids";
/// What that field may hold; whether a component is there is asked of the store.
pub const COMPONENTS_ALLOWED: &str = "may only name components of this workspace";
/// What a maintenance must have, as the end of a sentence about when it is.
pub const A_WINDOW_AHEAD: &str = "must have a window that is not over yet";

/// A maintenance as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// Its identifier.
    pub id: MaintenanceId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// What the user wrote.
    pub settings: MaintenanceSettings,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The arguments of a maintenance, valid. Only [`MaintenanceDraft`] and the store make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceSettings {
    /// Title, 1 to 256 characters.
    pub title: String,
    /// What is done, at most 4,096 characters.
    pub description: Option<String>,
    /// When its windows are.
    pub schedule: Schedule,
    /// Its monitors; sorted, each once.
    pub monitor_ids: Vec<MonitorId>,
    /// Its components; sorted, each once. One covers the monitor that it shows.
    pub component_ids: Vec<ComponentId>,
}

/// When the windows of a maintenance are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// When the first window begins, and at which time of the day those of a recurrence do.
    pub starts_at: Timestamp,
    /// How long each window is.
    pub duration: Interval,
    /// Whose clock a recurrence goes by.
    pub time_zone: TimeZone,
    /// By which rule it comes again; `None` where it is once.
    pub recurrence: Option<Recurrence>,
}

/// A maintenance as a caller wrote it: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceDraft {
    /// Title.
    pub title: Option<String>,
    /// What is done.
    pub description: Option<String>,
    /// When the first window begins.
    pub starts_at: Option<Timestamp>,
    /// How long each window is.
    pub duration: Option<String>,
    /// A name of the IANA time zones.
    pub time_zone: Option<String>,
    /// The value of an RRULE.
    pub recurrence: Option<String>,
    /// Its monitors.
    pub monitor_ids: Vec<String>,
    /// Its components.
    pub component_ids: Vec<String>,
}

impl MaintenanceDraft {
    /// The settings of a new maintenance, or all that is wrong with the draft. Whether what it names
    /// is there is not looked at.
    pub fn parse(self) -> Result<MaintenanceSettings, Violations> {
        self.read(None)
    }

    /// The settings of a maintenance that had `seen`, or all that is wrong with the draft. Where all
    /// that it was for is deleted, other changes need nothing new.
    pub fn parse_change(
        self,
        seen: &MaintenanceSettings,
    ) -> Result<MaintenanceSettings, Violations> {
        self.read(Some(seen))
    }

    /// Takes from `other` the fields that `mask` names, also where `other` leaves them out: that
    /// clears them. A name that no maintenance has is refused, and nothing is taken then.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&MAINTENANCE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Taken apart by name, so that a new field cannot be forgotten here.
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
        let mut reader = Reader::new(&MAINTENANCE);
        let settings = settings(&mut reader, self, seen);
        reader.finish(settings)
    }
}

impl MaintenanceSettings {
    /// Whether it names neither monitor nor component: what it was for is deleted.
    pub fn is_for_nothing(&self) -> bool {
        self.monitor_ids.is_empty() && self.component_ids.is_empty()
    }
}

impl From<&MaintenanceSettings> for MaintenanceDraft {
    /// The draft that parses to these settings: where an update with a mask begins.
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
    reader: &mut Reader,
    draft: MaintenanceDraft,
    seen: Option<&MaintenanceSettings>,
) -> Option<MaintenanceSettings> {
    let names_nothing = draft.monitor_ids.is_empty() && draft.component_ids.is_empty();
    if names_nothing && !seen.is_some_and(MaintenanceSettings::is_for_nothing) {
        let allowed = format!("must name a monitor where `{COMPONENTS}` names no component");
        let _: Option<()> = reader.refuse_unseen(MONITORS, allowed);
    }
    let title = reader.text("title", draft.title);
    let description = reader.text("description", draft.description);
    let starts_at = starts_at(reader, draft.starts_at);
    let duration = reader.text("duration", draft.duration);
    let time_zone = reader.text("time_zone", draft.time_zone);
    let recurrence = reader.text("recurrence", draft.recurrence);
    let recurrence = recurrence.and_then(|text| match Recurrence::parse(&text) {
        Ok(recurrence) => Some(recurrence),
        Err(refusal) => reader.refuse("recurrence", text, refusal.0),
    });
    let monitor_ids = ids(reader, MONITORS, draft.monitor_ids, MONITORS_ALLOWED);
    let component_ids = ids(reader, COMPONENTS, draft.component_ids, COMPONENTS_ALLOWED);
    let held = "the field's shape has this form";
    let schedule = Schedule {
        starts_at: starts_at?,
        duration: Interval::parse(&duration?).expect(held),
        time_zone: TimeZone::parse(&time_zone?).expect(held),
        recurrence,
    };
    Some(MaintenanceSettings { title: title?, description, schedule, monitor_ids, component_ids })
}

fn starts_at(reader: &mut Reader, given: Option<Timestamp>) -> Option<Timestamp> {
    let (min, max) = (limits::MAINTENANCE_STARTS_MIN, limits::MAINTENANCE_STARTS_MAX);
    let at = reader.instant("starts_at", given)?;
    if (min..=max).contains(&at) {
        return Some(at);
    }
    reader.refuse("starts_at", at, format!("must be from {min} to {max}"))
}

/// A text in the form of an identifier that is none is the identifier of nothing.
fn ids<Id: FromStr>(
    reader: &mut Reader,
    field: &str,
    given: Vec<String>,
    allowed: &str,
) -> Vec<Id> {
    let given = reader.id_set(field, given);
    let mut ids = Vec::with_capacity(given.len());
    for text in given {
        match text.parse() {
            Ok(id) => ids.push(id),
            Err(_) => ids.extend(reader.refuse::<Id>(field, text, allowed)),
        }
    }
    ids
}
