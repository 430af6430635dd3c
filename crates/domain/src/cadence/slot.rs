//! Slots: the instants at which a monitor is due in a region (design §5 "Slots"). Pure arithmetic.
//! [`super::Schedule`] orders the slots of all monitors.

use std::time::Duration;

use rules::{MonitorId, Region, Timestamp};

use super::{Missed, MissedReason};

/// A set of regions in 8 bytes, in the order of the specification (§8.3), then the private ones. The
/// position of a region in the set is its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions(u64);

// The set has one bit per region, and `Schedule` stores a region in 6 bits.
const _: () = assert!(Region::ALL.len() <= 64, "`Regions` has a bit for each region");

/// Slots are multiples of this many milliseconds, which divides every period. Checks due at about
/// the same time share one wake-up, because a wake-up costs as much as a check
/// (docs/decisions/0019-grid.md).
const GRID_MS: i64 = 100;

/// The slots of a monitor in one of its regions: `phase + k · period` in milliseconds since 1970.
/// The phase is the hash of the monitor modulo the period, plus rank × period ÷ number of regions,
/// rounded down to the grid. So load is flat and regions take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    period_ms: i64,
    phase_ms: i64,
}

impl Regions {
    /// Returns whether `region` is in the set.
    pub const fn contains(self, region: Region) -> bool {
        self.0 & bit(region) != 0
    }

    /// Returns the number of regions in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns how many regions of the set precede `region` in the specification's order.
    pub const fn rank(self, region: Region) -> u32 {
        (self.0 & (bit(region) - 1)).count_ones()
    }

    /// Returns the regions in the specification's order.
    pub fn iter(self) -> impl Iterator<Item = Region> {
        Region::ALL.iter().copied().filter(move |region| self.contains(*region))
    }

    /// Adds `region`; returns whether it was missing before.
    pub const fn insert(&mut self, region: Region) -> bool {
        let before = self.0;
        self.0 |= bit(region);
        before != self.0
    }

    /// Removes `region`; returns whether it was present.
    pub const fn remove(&mut self, region: Region) -> bool {
        let before = self.0;
        self.0 &= !bit(region);
        before != self.0
    }
}

impl FromIterator<Region> for Regions {
    fn from_iter<I: IntoIterator<Item = Region>>(regions: I) -> Self {
        let mut set = Self::default();
        for region in regions {
            set.insert(region);
        }
        set
    }
}

impl Slots {
    /// Returns the slots of `monitor` in `region`, which must be one of its `regions`.
    pub fn new(monitor: MonitorId, period: Duration, regions: Regions, region: Region) -> Self {
        let period_ms = i64::try_from(period.as_millis()).unwrap_or(i64::MAX).max(1);
        let own = (mix_bits(monitor.bits()) % period_ms as u64) as i64;
        let share = i64::from(regions.rank(region)) * period_ms / i64::from(regions.len().max(1));
        let phase_ms = (own + share) % period_ms;
        Self { period_ms, phase_ms: phase_ms - phase_ms % GRID_MS }
    }

    /// Returns the first slot later than `instant`.
    pub fn after(self, instant: Timestamp) -> Timestamp {
        self.at_or_before(instant) + self.period()
    }

    /// Returns the last slot at or before `instant`.
    pub fn at_or_before(self, instant: Timestamp) -> Timestamp {
        let periods = (instant.as_millis() - self.phase_ms).div_euclid(self.period_ms);
        Timestamp::from_millis(self.phase_ms + periods * self.period_ms)
    }

    /// Returns the number of slots later than `after` and at or before `until`.
    pub fn count_between(self, after: Timestamp, until: Timestamp) -> u32 {
        let (from, to) = (self.at_or_before(after), self.at_or_before(until));
        u32::try_from((to.as_millis() - from.as_millis()) / self.period_ms)
            .unwrap_or(if to < from { 0 } else { u32::MAX })
    }

    /// Returns the time from one slot to the next.
    pub fn period(self) -> Duration {
        Duration::from_millis(self.period_ms as u64)
    }
}

/// Returns the first multiple of the grid at or after `instant`. Work that waits until then causes
/// no extra wake-up.
pub const fn on_grid(instant: Timestamp) -> Timestamp {
    let late = instant.as_millis().rem_euclid(GRID_MS);
    let rest = if late == 0 { 0 } else { GRID_MS - late };
    Timestamp::from_millis(instant.as_millis().saturating_add(rest))
}

/// The time that a starting process looks back over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downtime {
    /// Slots later than this are checked one by one: some ran, and some were in flight when the
    /// previous process ended.
    pub looked_at_since: Timestamp,
    /// The last instant at which the previous process is known to have run. Later slots ran
    /// nowhere.
    pub worked_until: Timestamp,
    pub now: Timestamp,
}

/// Returns the slots of a monitor that were missed while the process was down: in each region all
/// slots of that time except those that `is_known` returns true for. [`super::FirstRun::Regular`]
/// continues with the slots later than `now`.
pub fn missed_while_down(
    monitor: MonitorId,
    period: Duration,
    regions: Regions,
    time: Downtime,
    is_known: impl Fn(Region, Timestamp) -> bool,
) -> Vec<Missed> {
    let mut found = Vec::new();
    for region in regions.iter() {
        let slots = Slots::new(monitor, period, regions, region);
        let mut range: Option<Missed> = None;
        let mut slot = slots.after(time.looked_at_since);
        while slot <= time.worked_until.min(time.now) {
            if is_known(region, slot) {
                found.extend(range.take());
            } else {
                extend(&mut range, Missed::slot(monitor, region, slot, MissedReason::Down));
            }
            slot = slots.after(slot);
        }
        let since = time.worked_until.max(time.looked_at_since);
        let count = slots.count_between(since, time.now);
        if count > 0 {
            let (first_slot, last_slot) = (slots.after(since), slots.at_or_before(time.now));
            let reason = MissedReason::Down;
            extend(&mut range, Missed { monitor, region, first_slot, last_slot, count, reason });
        }
        found.extend(range);
    }
    found
}

/// Extends a range by the one that follows it.
fn extend(range: &mut Option<Missed>, next: Missed) {
    match range {
        Some(range) => {
            range.last_slot = next.last_slot;
            range.count += next.count;
        }
        None => *range = Some(next),
    }
}

const fn bit(region: Region) -> u64 {
    1 << region as u32
}

/// Spreads IDs, which grow with time, over all 64 bits: the finaliser of `SplitMix64`. A change
/// would move all slots, so it is written here instead of using a hasher of the standard library.
const fn mix_bits(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_regions() -> impl Strategy<Value = Regions> {
        prop::sample::subsequence(Region::ALL.to_vec(), 1..=Region::ALL.len())
            .prop_map(|regions| regions.into_iter().collect())
    }

    fn any_period() -> impl Strategy<Value = Duration> {
        prop::sample::select(rules::Periodicity::ALL).prop_map(rules::Periodicity::period)
    }

    proptest! {
        // design: §5 "regions take turns"
        #[test]
        fn regions_take_turns_at_even_distances(
            monitor: u64, regions in any_regions(), period in any_period(), now in 0_i64..1 << 42,
        ) {
            let now = Timestamp::from_millis(now);
            let mut slots: Vec<i64> = regions
                .iter()
                .map(|region| Slots::new(MonitorId::from_bits(monitor), period, regions, region))
                .map(|slots| slots.after(now).as_millis())
                .collect();
            slots.sort_unstable();
            slots.push(slots[0] + period.as_millis() as i64);
            let fair = period.as_millis() as i64 / i64::from(regions.len());
            for pair in slots.windows(2) {
                let off = (pair[1] - pair[0] - fair).abs();
                prop_assert!(off <= GRID_MS, "{slots:?}, fair is {fair}");
            }
        }

        #[test]
        fn slots_and_wakeups_align_to_the_grid(
            monitor: u64, regions in any_regions(), period in any_period(), now in 0_i64..1 << 42,
        ) {
            let now = Timestamp::from_millis(now);
            for region in regions.iter() {
                let slots = Slots::new(MonitorId::from_bits(monitor), period, regions, region);
                prop_assert_eq!(on_grid(slots.after(now)), slots.after(now));
            }
            prop_assert!(on_grid(now) >= now && on_grid(now).since(now) < Duration::from_millis(100));
            prop_assert_eq!(on_grid(now).as_millis() % GRID_MS, 0);
        }

        #[test]
        fn slots_around_an_instant_differ_by_one_period(
            monitor: u64, regions in any_regions(), period in any_period(), now in 0_i64..1 << 42,
        ) {
            let region = regions.iter().next().unwrap();
            let slots = Slots::new(MonitorId::from_bits(monitor), period, regions, region);
            let now = Timestamp::from_millis(now);
            prop_assert!(slots.at_or_before(now) <= now && now < slots.after(now));
            prop_assert_eq!(slots.at_or_before(now) + period, slots.after(now));
            prop_assert_eq!(slots.at_or_before(slots.after(now)), slots.after(now));
            prop_assert_eq!(slots.count_between(now, now), 0);
            prop_assert_eq!(slots.count_between(now, slots.after(now)), 1);
        }

        #[test]
        fn unknown_slots_of_a_downtime_are_missed_once(
            monitor: u64, regions in any_regions(), period in any_period(),
            since in 0_i64..1 << 42, worked_ms in 0_u64..1_000_000, down_ms in 0_u64..100_000_000,
            known_modulo in 1_i64..5,
        ) {
            let (monitor, looked_at_since) = (MonitorId::from_bits(monitor), Timestamp::from_millis(since));
            let worked_until = looked_at_since + Duration::from_millis(worked_ms);
            let now = worked_until + Duration::from_millis(down_ms);
            let period_ms = period.as_millis() as i64;
            let is_known = |slot: Timestamp| slot <= worked_until && (slot.as_millis() / period_ms) % known_modulo == 0;
            let time = Downtime { looked_at_since, worked_until, now };
            let missed = missed_while_down(monitor, period, regions, time, |_, slot| is_known(slot));
            for region in regions.iter() {
                let slots = Slots::new(monitor, period, regions, region);
                let mut slot = slots.after(looked_at_since);
                let mut expected = 0;
                while slot <= now {
                    let holding = missed.iter().filter(|missed| {
                        missed.region == region && missed.first_slot <= slot && slot <= missed.last_slot
                    });
                    prop_assert_eq!(holding.count(), usize::from(!is_known(slot)));
                    expected += u32::from(!is_known(slot));
                    slot = slots.after(slot);
                }
                let counted: u32 =
                    missed.iter().filter(|missed| missed.region == region).map(|missed| missed.count).sum();
                prop_assert_eq!(counted, expected);
            }
        }
    }

    // design: §5 "its phase in the period comes from its id, so that load is flat"
    #[test]
    fn monitors_created_in_sequence_spread_evenly() {
        let regions: Regions = Region::ALL.iter().copied().take(3).collect();
        let mut per_second = [0_u32; 30];
        for made in 0..10_000 {
            let monitor = MonitorId::at(Timestamp::from_millis(1_790_000_000_000 + made), 0);
            for region in regions.iter() {
                let slots = Slots::new(monitor, Duration::from_secs(30), regions, region);
                per_second[slots.phase_ms as usize / 1_000] += 1;
            }
        }
        for load in per_second {
            assert!((900..=1_100).contains(&load), "expected about 1,000 a second: {per_second:?}");
        }
    }

    // A slot is part of a result's identity: moved slots would store the results of the previous
    // version again.
    #[test]
    fn slots_are_stable_across_versions() {
        let regions: Regions =
            [Region::FlyAms, Region::FlyIad, Region::FlySin].into_iter().collect();
        let phases: Vec<i64> = regions
            .iter()
            .map(|region| {
                Slots::new(MonitorId::from_bits(1), Duration::from_secs(30), regions, region)
            })
            .map(|slots| slots.phase_ms)
            .collect();
        assert_eq!(phases, [28_700, 8_700, 18_700]);
    }
}
