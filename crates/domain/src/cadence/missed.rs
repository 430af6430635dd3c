//! Slots that nobody ran, with the reason. Which slots these are is decided by `slot` and
//! `schedule`, and by the server's pipeline.

use rules::{MonitorId, Region, Timestamp};

use crate::check::Undecided;

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
    /// The region's probe was not connected, or did not report a result in time.
    Disconnected,
    /// The probe has no IPv6, and the monitor requires it by `ip_version` or by its own address.
    NoIpv6,
}

impl From<Undecided> for MissedReason {
    fn from(undecided: Undecided) -> Self {
        match undecided {
            Undecided::NoMemory => Self::Overloaded,
            Undecided::NoIpv6 => Self::NoIpv6,
        }
    }
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

    /// Returns what remains without one of the slots, because it was reported late. Returns `None` if no
    /// slot is at that time.
    pub fn without(self, slot: Timestamp) -> Option<Vec<Self>> {
        if slot < self.first_slot || slot > self.last_slot {
            return None;
        }
        let at = slot.as_millis() - self.first_slot.as_millis();
        let period = self.period();
        let before = u32::try_from(at / period).ok().filter(|_| at % period == 0)?;
        let after = self.count.checked_sub(before + 1)?;
        let slot_at = |millis: i64| Timestamp::from_millis(slot.as_millis() + millis);
        let earlier = Self { last_slot: slot_at(-period), count: before, ..self };
        let later = Self { first_slot: slot_at(period), count: after, ..self };
        Some([earlier, later].into_iter().filter(|it| it.count > 0).collect())
    }

    /// Returns the time between two slots in milliseconds; at least 1.
    fn period(&self) -> i64 {
        let length = self.last_slot.as_millis() - self.first_slot.as_millis();
        (length / i64::from(self.count.max(2) - 1)).max(1)
    }

    /// Returns the number of these slots that are not before `from`. Slots in a row are evenly spaced.
    pub fn count_from(&self, from: Timestamp) -> u32 {
        if from <= self.first_slot {
            return self.count;
        }
        if from > self.last_slot {
            return 0;
        }
        let kept = (self.last_slot.as_millis() - from.as_millis()) / self.period() + 1;
        u32::try_from(kept).map_or(self.count, |kept| kept.min(self.count))
    }
}

impl MissedReason {
    /// All reasons, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::Down,
        Self::Overloaded,
        Self::Changed,
        Self::Disconnected,
        Self::NoIpv6,
        Self::Fault,
        Self::Unknown,
    ];

    /// Returns the word of the reason.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Down => "down",
            Self::Overloaded => "overloaded",
            Self::Changed => "changed",
            Self::Fault => "fault",
            Self::Disconnected => "disconnected",
            Self::NoIpv6 => "no_ipv6",
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

    fn without(count: u32, slot: i64) -> Option<Vec<(i64, i64, u32)>> {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let last_slot = at(60 + 30 * (i64::from(count) - 1));
        let one = Missed::slot(
            MonitorId::from_bits(1),
            Region::FlyAms,
            at(60),
            MissedReason::Disconnected,
        );
        let rest = Missed { last_slot, count, ..one }.without(at(slot))?;
        let seconds = |at: Timestamp| at.as_millis() / 1_000;
        let shown = |it: &Missed| (seconds(it.first_slot), seconds(it.last_slot), it.count);
        Some(rest.iter().map(shown).collect())
    }

    #[test]
    fn late_slot_splits_its_range() {
        assert_eq!(without(1, 60), Some(Vec::new()));
        assert_eq!(without(4, 60), Some(vec![(90, 150, 3)]));
        assert_eq!(without(4, 90), Some(vec![(60, 60, 1), (120, 150, 2)]));
        assert_eq!(without(4, 150), Some(vec![(60, 120, 3)]));
    }

    #[test]
    fn other_slots_change_no_range() {
        assert_eq!(without(4, 59), None);
        assert_eq!(without(4, 151), None);
        assert_eq!(without(4, 75), None, "between two slots");
        assert_eq!(without(1, 61), None);
    }
}
