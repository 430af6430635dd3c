//! The judge's settings of a monitor: period, regions, and the probes that serve them. Recomputed
//! when the monitor or the connected probes change.

use std::time::Duration;

use rules::monitor::MonitorSettings;
use rules::{Region, Timestamp, limits};

/// The judge's settings for one revision of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Results of other revisions are ignored.
    pub revision: u32,
    /// Whether the monitor is active.
    pub active: bool,
    /// Time from one slot of a region to the next.
    pub period: Duration,
    /// Maximum duration of all attempts of one check.
    pub longest: Duration,
    /// Its regions, without duplicates, in the order of [`Region`].
    pub regions: Box<[ServedRegion]>,
}

/// A region and the probe that serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRegion {
    pub region: Region,
    pub probe: ProbeIndex,
}

/// A number that the pipeline assigns to a probe for the lifetime of the process. Regions served by
/// one probe share one vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeIndex(pub u16);

impl ProbeIndex {
    /// The server's embedded probe, which serves all regions that no other probe serves.
    pub const EMBEDDED: Self = Self(0);
    /// No probe: nothing is checked from a place, so no probe's suspicion concerns it. It is not the number
    /// of a known probe, and has no name.
    pub const NONE: Self = Self(u16::MAX);
}

impl Policy {
    /// Creates the policy of a monitor that runs in `regions`, in any order.
    pub fn new(settings: &MonitorSettings, revision: u32, mut regions: Vec<ServedRegion>) -> Self {
        regions.sort_unstable_by_key(|serving| serving.region);
        regions.dedup_by_key(|serving| serving.region);
        Self {
            revision,
            active: settings.active,
            period: settings.periodicity.period(),
            longest: longest(settings),
            regions: regions.into(),
        }
    }

    /// Returns how long the vote of a region is valid after the end of its check.
    pub fn vote_validity(&self) -> Duration {
        (2 * self.period).max(self.period + self.longest)
    }

    /// Returns the probe that serves `region`, or `None` if the monitor does not run there.
    pub fn probe_of(&self, region: Region) -> Option<ProbeIndex> {
        let index = self.regions.binary_search_by_key(&region, |serving| serving.region).ok()?;
        self.regions.get(index).map(|serving| serving.probe)
    }

    /// Returns the latest end of a grace period that begins at `now`.
    pub(super) fn grace_period_end(&self, now: Timestamp) -> Timestamp {
        now + self.period.min(limits::SETTLE_MAX)
    }
}

/// Returns the maximum duration of a check. No attempt starts after the next slot is due, so it is
/// all attempts with their pauses, or a period and one attempt.
fn longest(settings: &MonitorSettings) -> Duration {
    let attempt = settings.effective_timeout();
    let retries = u32::from(settings.retry);
    let pauses = limits::FIRST_RETRY_PAUSE.saturating_mul(2_u32.saturating_pow(retries) - 1);
    // Jitter less than doubles a pause.
    let all = attempt * (retries + 1) + pauses.saturating_mul(2);
    all.min(settings.periodicity.period() + attempt)
}

#[cfg(test)]
mod tests {
    use rules::Periodicity;
    use rules::monitor::{Check, TcpCheck};

    use super::*;

    fn settings(timeout_ms: u32, retry: u8) -> MonitorSettings {
        MonitorSettings {
            timeout_ms,
            retry,
            active: true,
            ..MonitorSettings::new(
                "database",
                Periodicity::ThirtySeconds,
                Check::Tcp(TcpCheck::new("localhost:5432")),
            )
        }
    }

    // design: §5 "max(2 periods, period + the longest its attempts may take)"
    #[test]
    fn longest_check_is_bounded_by_attempts_and_period() {
        for (timeout_ms, retry, longest_ms, window_ms) in [
            (45_000, 0, 45_000, 75_000),
            (1_000, 3, 4_000 + 2 * 3_500, 60_000),
            (120_000, 10, 150_000, 180_000),
        ] {
            let policy = Policy::new(&settings(timeout_ms, retry), 1, Vec::new());
            assert_eq!(policy.longest, Duration::from_millis(longest_ms));
            assert_eq!(policy.vote_validity(), Duration::from_millis(window_ms));
        }
    }

    #[test]
    fn regions_are_sorted_and_unique() {
        let serving = |region| ServedRegion { region, probe: ProbeIndex::EMBEDDED };
        let given = [Region::FlySin, Region::FlyAms, Region::FlySin].map(serving);
        let policy = Policy::new(&settings(1_000, 0), 1, given.to_vec());
        assert_eq!(*policy.regions, [Region::FlyAms, Region::FlySin].map(serving));
    }
}
