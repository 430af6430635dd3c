//! Slots that nobody ran, with the reason. Which slots these are is decided by `slot` and
//! `schedule`, and by the server's pipeline.

use rules::{MonitorId, Region, Timestamp};

/// Consecutive slots of a monitor in a region that nobody ran, for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Monitor of the slots.
    pub monitor: MonitorId,
    /// Where they were due.
    pub region: Region,
    /// The first of them.
    pub first_slot: Timestamp,
    /// The last of them; equals the first if there is only one.
    pub last_slot: Timestamp,
    /// Number of slots, the first and the last included; at least 1.
    pub count: u32,
    /// Why nobody ran them.
    pub reason: MissedReason,
}

/// Why nobody ran a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissedReason {
    /// Stored by a version that did not record the reason.
    Unknown,
    /// The server was not running, or was stopping.
    Down,
    /// The server was too busy: the next slot was due before the check could start.
    Overloaded,
    /// The monitor was edited, paused or deleted before the check could start.
    Changed,
    /// The check ended by a fault of the server.
    Fault,
}

impl Missed {
    /// Returns one missed slot.
    pub const fn slot(
        monitor: MonitorId,
        region: Region,
        slot: Timestamp,
        reason: MissedReason,
    ) -> Self {
        Self { monitor, region, first_slot: slot, last_slot: slot, count: 1, reason }
    }

    /// Returns the number of these slots that are not before `from`. Slots in a row are evenly spaced.
    pub fn count_from(&self, from: Timestamp) -> u32 {
        if from <= self.first_slot {
            return self.count;
        }
        if from > self.last_slot {
            return 0;
        }
        let length = self.last_slot.as_millis() - self.first_slot.as_millis();
        let period = (length / i64::from(self.count.max(2) - 1)).max(1);
        let kept = (self.last_slot.as_millis() - from.as_millis()) / period + 1;
        u32::try_from(kept).map_or(self.count, |kept| kept.min(self.count))
    }
}

impl MissedReason {
    /// All reasons, in the order of the documentation.
    pub const ALL: &[Self] =
        &[Self::Down, Self::Overloaded, Self::Changed, Self::Fault, Self::Unknown];

    /// Returns the word of the reason.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Down => "down",
            Self::Overloaded => "overloaded",
            Self::Changed => "changed",
            Self::Fault => "fault",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn count_from_counts_the_slots_not_before() {
        let minute = Duration::from_mins(1);
        let range = Missed {
            last_slot: START + 9 * minute,
            count: 10,
            ..Missed::slot(MonitorId::from_bits(1), Region::FlyAms, START, MissedReason::Overloaded)
        };
        for (from, expected) in [
            (START - minute, 10),
            (START, 10),
            (START + Duration::from_millis(1), 9),
            (START + minute, 9),
            (START + 9 * minute, 1),
            (START + 10 * minute, 0),
        ] {
            assert_eq!(range.count_from(from), expected, "{from}");
        }
        let one = Missed::slot(range.monitor, range.region, START, MissedReason::Down);
        assert_eq!((one.count_from(START), one.count_from(START + minute)), (1, 0));
    }
}
