//! Slots: the instants at which a monitor is due in a region (design §5 "Slots"). Pure arithmetic;
//! what is due next among all monitors belongs to [`super::Schedule`].

use std::time::Duration;

use rules::{MonitorId, Region, Timestamp};

/// A set of regions in 4 bytes. Its order is the specification's (§8.3), and a region's place in
/// it is its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions(u32);

// The set has a bit for each region, and `Schedule` keeps a region in 5 bits.
const _: () = assert!(Region::ALL.len() <= 32, "a region more than a `Regions` has bits");

/// Slots lie on a grid of so many milliseconds, which divides every period: what is due about the
/// same time is due together, since to wake up costs as much as a check (docs/decisions/0019-grid.md).
const GRID_MS: i64 = 100;

/// The slots of a monitor in one of its regions: `phase + k · period` in milliseconds since 1970.
/// The phase is the hash of the monitor over the period, and the rank of the region × period ÷
/// number of regions on top, so that load is flat and regions take turns; rounded down to the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    period_ms: i64,
    phase_ms: i64,
}

/// Slots in a row of a monitor in a region that nobody ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Which monitor.
    pub monitor: MonitorId,
    /// Which region.
    pub region: Region,
    /// The first of them.
    pub first_slot: Timestamp,
    /// The last of them; the first again where it is one.
    pub last_slot: Timestamp,
    /// How many, the first and the last included; at least 1.
    pub count: u32,
}

impl Missed {
    /// One slot that nobody ran.
    pub const fn slot(monitor: MonitorId, region: Region, slot: Timestamp) -> Self {
        Self { monitor, region, first_slot: slot, last_slot: slot, count: 1 }
    }
}

impl Regions {
    /// Whether `region` is in the set.
    pub const fn contains(self, region: Region) -> bool {
        self.0 & bit(region) != 0
    }

    /// How many regions are in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many regions of the set stand before `region` in the specification's order.
    pub const fn rank(self, region: Region) -> u32 {
        (self.0 & (bit(region) - 1)).count_ones()
    }

    /// The regions, in the specification's order.
    pub fn iter(self) -> impl Iterator<Item = Region> {
        Region::ALL.iter().copied().filter(move |region| self.contains(*region))
    }

    /// Adds `region`; says whether it was not there before.
    pub const fn insert(&mut self, region: Region) -> bool {
        let before = self.0;
        self.0 |= bit(region);
        before != self.0
    }

    /// Takes `region` out; says whether it was there.
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
    /// The slots of `monitor` in `region`, one of its `regions`.
    pub fn of(monitor: MonitorId, period: Duration, regions: Regions, region: Region) -> Self {
        let period_ms = i64::try_from(period.as_millis()).unwrap_or(i64::MAX).max(1);
        let own = (spread(monitor.bits()) % period_ms as u64) as i64;
        let share = i64::from(regions.rank(region)) * period_ms / i64::from(regions.len().max(1));
        let phase_ms = (own + share) % period_ms;
        Self { period_ms, phase_ms: phase_ms - phase_ms % GRID_MS }
    }

    /// The first slot later than `instant`.
    pub fn after(self, instant: Timestamp) -> Timestamp {
        self.at_or_before(instant) + self.period()
    }

    /// The last slot that is not later than `instant`.
    pub fn at_or_before(self, instant: Timestamp) -> Timestamp {
        let periods = (instant.as_millis() - self.phase_ms).div_euclid(self.period_ms);
        Timestamp::from_millis(self.phase_ms + periods * self.period_ms)
    }

    /// How many slots are later than `after` and not later than `until`.
    pub fn count_between(self, after: Timestamp, until: Timestamp) -> u32 {
        let (from, to) = (self.at_or_before(after), self.at_or_before(until));
        u32::try_from((to.as_millis() - from.as_millis()) / self.period_ms)
            .unwrap_or(if to < from { 0 } else { u32::MAX })
    }

    /// The time from one slot to the next.
    pub fn period(self) -> Duration {
        Duration::from_millis(self.period_ms as u64)
    }
}

/// The first instant of the grid that slots lie on which is not before `instant`: what can wait until
/// then wakes nobody up by itself.
pub const fn on_grid(instant: Timestamp) -> Timestamp {
    let late = instant.as_millis().rem_euclid(GRID_MS);
    let rest = if late == 0 { 0 } else { GRID_MS - late };
    Timestamp::from_millis(instant.as_millis().saturating_add(rest))
}

/// The time that a process looks back over when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downtime {
    /// Slots later than this are looked at one by one: some ran, and some were under way when the
    /// process before ended.
    pub looked_at_since: Timestamp,
    /// The last instant at which that process is known to have worked; slots after it ran nowhere.
    pub worked_until: Timestamp,
    /// The present.
    pub now: Timestamp,
}

/// What nobody ran of a monitor while the process was down: in each region the slots of that time
/// for which `is_known` does not say otherwise. After it, [`super::First::Regular`] goes on with
/// the slots later than `now`.
pub fn missed_while_down(
    monitor: MonitorId,
    period: Duration,
    regions: Regions,
    time: Downtime,
    is_known: impl Fn(Region, Timestamp) -> bool,
) -> Vec<Missed> {
    let mut found = Vec::new();
    for region in regions.iter() {
        let slots = Slots::of(monitor, period, regions, region);
        let mut range: Option<Missed> = None;
        let mut slot = slots.after(time.looked_at_since);
        while slot <= time.worked_until.min(time.now) {
            if is_known(region, slot) {
                found.extend(range.take());
            } else {
                extend(
                    &mut range,
                    Missed { monitor, region, first_slot: slot, last_slot: slot, count: 1 },
                );
            }
            slot = slots.after(slot);
        }
        let since = time.worked_until.max(time.looked_at_since);
        let count = slots.count_between(since, time.now);
        if count > 0 {
            let (first_slot, last_slot) = (slots.after(since), slots.at_or_before(time.now));
            extend(&mut range, Missed { monitor, region, first_slot, last_slot, count });
        }
        found.extend(range);
    }
    found
}

/// Adds to a range the one that follows it.
fn extend(range: &mut Option<Missed>, next: Missed) {
    match range {
        Some(range) => {
            range.last_slot = next.last_slot;
            range.count += next.count;
        }
        None => *range = Some(next),
    }
}

const fn bit(region: Region) -> u32 {
    1 << region as u32
}

/// Spreads ids, which grow with time, over all 64 bits: the finaliser of `SplitMix64`. Slots would
/// move if it changed, so it is written here and not left to a hasher of the standard library.
const fn spread(bits: u64) -> u64 {
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
                .map(|region| Slots::of(MonitorId::from_bits(monitor), period, regions, region))
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
        fn what_is_due_about_the_same_time_is_due_together(
            monitor: u64, regions in any_regions(), period in any_period(), now in 0_i64..1 << 42,
        ) {
            let now = Timestamp::from_millis(now);
            for region in regions.iter() {
                let slots = Slots::of(MonitorId::from_bits(monitor), period, regions, region);
                prop_assert_eq!(on_grid(slots.after(now)), slots.after(now));
            }
            prop_assert!(on_grid(now) >= now && on_grid(now).since(now) < Duration::from_millis(100));
            prop_assert_eq!(on_grid(now).as_millis() % GRID_MS, 0);
        }

        #[test]
        fn the_slots_around_an_instant_are_one_period_apart(
            monitor: u64, regions in any_regions(), period in any_period(), now in 0_i64..1 << 42,
        ) {
            let region = regions.iter().next().unwrap();
            let slots = Slots::of(MonitorId::from_bits(monitor), period, regions, region);
            let now = Timestamp::from_millis(now);
            prop_assert!(slots.at_or_before(now) <= now && now < slots.after(now));
            prop_assert_eq!(slots.at_or_before(now) + period, slots.after(now));
            prop_assert_eq!(slots.at_or_before(slots.after(now)), slots.after(now));
            prop_assert_eq!(slots.count_between(now, now), 0);
            prop_assert_eq!(slots.count_between(now, slots.after(now)), 1);
        }

        #[test]
        fn every_slot_of_a_time_down_is_missed_once_unless_it_is_known(
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
                let slots = Slots::of(monitor, period, regions, region);
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
    fn the_load_of_monitors_made_in_a_row_is_flat() {
        let regions: Regions = Region::ALL.iter().copied().take(3).collect();
        let mut per_second = [0_u32; 30];
        for made in 0..10_000 {
            let monitor = MonitorId::at(Timestamp::from_millis(1_790_000_000_000 + made), 0);
            for region in regions.iter() {
                let slots = Slots::of(monitor, Duration::from_secs(30), regions, region);
                per_second[slots.phase_ms as usize / 1_000] += 1;
            }
        }
        for load in per_second {
            assert!((900..=1_100).contains(&load), "1,000 a second are fair: {per_second:?}");
        }
    }

    // A slot is part of a result's identity: a version of the product that moved the slots would
    // count the results of the one before as others.
    #[test]
    fn slots_stay_where_they_are_from_version_to_version() {
        let regions: Regions =
            [Region::FlyAms, Region::FlyIad, Region::FlySin].into_iter().collect();
        let phases: Vec<i64> = regions
            .iter()
            .map(|region| {
                Slots::of(MonitorId::from_bits(1), Duration::from_secs(30), regions, region)
            })
            .map(|slots| slots.phase_ms)
            .collect();
        assert_eq!(phases, [28_700, 8_700, 18_700]);
    }
}
