//! What a channel wants to hear, and when. Whether it hears a given event, and until when one waits,
//! is decided in `notify`.

use serde::{Deserialize, Serialize};

use crate::tables::NOTIFICATION_WISHES;
use crate::{Interval, Reader, TimeOfDay, TimeZone, Violations};

words! {
    /// What a channel may hear of; tests it hears always.
    WishedEvent ("event") {
        /// That a monitor is down.
        Error = "error",
        /// That a monitor is slow or partly failing.
        Degraded = "degraded",
        /// That what was told before is over.
        Recovered = "recovered",
    }

    /// What waits for the end of quiet hours.
    Held ("held") {
        /// Everything but tests.
        All = "all",
        /// Everything but tests, and that something is down or no longer.
        AllButErrors = "all_but_errors",
    }
}

/// What a channel wants to hear; what it does not name is as by default. Its JSON is what the store
/// keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wishes {
    /// What it hears of: sorted, without duplicates; empty is everything.
    pub events: Vec<WishedEvent>,
    /// How often it is told that a monitor is still down; `None` is never.
    pub remind_every: Option<Interval>,
    /// When it is told nothing; `None` is never.
    pub quiet_hours: Option<QuietHours>,
}

/// A part of every day, by the clock of a zone; over midnight where it ends before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    /// When they begin.
    pub from: TimeOfDay,
    /// When they end; another time than `from`.
    pub until: TimeOfDay,
    /// Whose clock that is.
    pub time_zone: TimeZone,
    /// What waits.
    pub held: Held,
}

/// Wishes as a caller wrote them: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WishesDraft {
    /// Words of [`WishedEvent`].
    pub events: Vec<String>,
    /// An interval.
    pub remind_every: Option<String>,
    /// When nothing is told.
    pub quiet_hours: Option<QuietHoursDraft>,
}

/// Quiet hours as a caller wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuietHoursDraft {
    /// A time of the day.
    pub from: Option<String>,
    /// A time of the day.
    pub until: Option<String>,
    /// A name of the IANA database.
    pub time_zone: Option<String>,
    /// A word of [`Held`].
    pub held: Option<String>,
}

impl Wishes {
    /// Whether the channel wants to hear of this at all.
    pub fn want(&self, event: WishedEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    /// Whether nothing was wished: everything is as by default.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl WishesDraft {
    /// The wishes this draft describes, or all that is wrong with it.
    pub fn parse(self) -> Result<Wishes, Violations> {
        let mut reader = Reader::new(&NOTIFICATION_WISHES);
        let events = reader.word_set("events", self.events);
        let remind_every = reader.text("remind_every", self.remind_every);
        let quiet_hours = reader.block_of("quiet_hours", self.quiet_hours, quiet_hours);
        let remind_every = remind_every.map(|text| known(Interval::parse(&text)));
        reader.finish(Some(Wishes { events, remind_every, quiet_hours }))
    }
}

fn quiet_hours(reader: &mut Reader, draft: QuietHoursDraft) -> Option<QuietHours> {
    let from = reader.text("from", draft.from).map(|text| known(TimeOfDay::parse(&text)));
    let until = reader.text("until", draft.until).map(|text| known(TimeOfDay::parse(&text)));
    let time_zone = reader.text("time_zone", draft.time_zone);
    let held = reader.word("held", draft.held);
    let (from, until) = (from?, until?);
    if from == until {
        return reader.refuse("until", until, "must be another time than `from`");
    }
    Some(QuietHours { from, until, time_zone: known(TimeZone::parse(&time_zone?)), held: held? })
}

/// What the reader let through by the shape of the same type.
fn known<T, E: std::fmt::Debug>(parsed: Result<T, E>) -> T {
    parsed.expect("the reader asked the same question")
}

impl From<&Wishes> for WishesDraft {
    /// The draft that parses to these wishes: where an update with a mask begins.
    fn from(wishes: &Wishes) -> Self {
        Self {
            events: wishes.events.iter().map(ToString::to_string).collect(),
            remind_every: wishes.remind_every.map(|every| every.to_string()),
            quiet_hours: wishes.quiet_hours.as_ref().map(|hours| QuietHoursDraft {
                from: Some(hours.from.to_string()),
                until: Some(hours.until.to_string()),
                time_zone: Some(hours.time_zone.to_string()),
                held: Some(hours.held.to_string()),
            }),
        }
    }
}
