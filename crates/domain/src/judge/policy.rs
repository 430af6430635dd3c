//! What the judge has to know of a monitor beside its history: how often it runs, where, and who
//! runs it there. Made from the monitor and the probes that are connected, whenever either changes.

use std::time::Duration;

use rules::monitor::MonitorSettings;
use rules::{Region, Timestamp, limits};

/// What the judge has to know of one revision of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which revision; results of another one are not judged.
    pub revision: u32,
    /// Whether the monitor runs.
    pub active: bool,
    /// From one slot of a region to the next.
    pub period: Duration,
    /// The longest that all attempts of one check may take.
    pub longest: Duration,
    /// Its regions, each once, in the order of [`Region`]; at most all there are.
    pub regions: Box<[Serving]>,
}

/// A region, and the probe that serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serving {
    /// The region.
    pub region: Region,
    /// Who runs its checks.
    pub probe: ProbeSlot,
}

/// A probe, as a number that the pipeline gives it while the process lives. Regions of one number
/// are together one vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeSlot(pub u16);

impl ProbeSlot {
    /// The probe inside the server, which stands in for all regions that no other one serves.
    pub const EMBEDDED: Self = Self(0);
}

impl Policy {
    /// The policy for a monitor that runs in `regions`, given in any order.
    pub fn of(settings: &MonitorSettings, revision: u32, mut regions: Vec<Serving>) -> Self {
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

    /// How old the end of a result may be for the region to have a vote.
    pub fn window(&self) -> Duration {
        (2 * self.period).max(self.period + self.longest)
    }

    /// Who runs the checks of `region`; `None` where the monitor does not run.
    pub fn probe_of(&self, region: Region) -> Option<ProbeSlot> {
        let place = self.regions.binary_search_by_key(&region, |serving| serving.region).ok()?;
        self.regions.get(place).map(|serving| serving.probe)
    }

    /// When a hold that begins at `now` ends at the latest.
    pub(super) fn hold_end(&self, now: Timestamp) -> Timestamp {
        now + self.period.min(limits::SETTLE_MAX)
    }
}

/// The longest that the attempts of one check may take: no attempt starts once the next slot is
/// due, so either all of them and their pauses, or a whole period and one attempt more.
fn longest(settings: &MonitorSettings) -> Duration {
    let attempt = settings.effective_timeout();
    let retries = u32::from(settings.retry);
    let pauses = limits::FIRST_RETRY_PAUSE.saturating_mul(2_u32.saturating_pow(retries) - 1);
    // Chance adds less than as much again to a pause.
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
            name: "database".to_owned(),
            periodicity: Periodicity::ThirtySeconds,
            timeout_ms,
            degraded_at_ms: None,
            retry,
            active: true,
            public: false,
            description: None,
            regions: Vec::new(),
            check: Check::Tcp(TcpCheck { uri: "localhost:5432".to_owned() }),
        }
    }

    // design: §5 "max(2 periods, period + the longest its attempts may take)"
    #[test]
    fn the_longest_check_is_all_attempts_or_a_period_and_one_attempt() {
        for (timeout_ms, retry, longest_ms, window_ms) in [
            (45_000, 0, 45_000, 75_000),
            (1_000, 3, 4_000 + 2 * 3_500, 60_000),
            (120_000, 10, 150_000, 180_000),
        ] {
            let policy = Policy::of(&settings(timeout_ms, retry), 1, Vec::new());
            assert_eq!(policy.longest, Duration::from_millis(longest_ms));
            assert_eq!(policy.window(), Duration::from_millis(window_ms));
        }
    }

    #[test]
    fn regions_stand_once_and_in_their_order() {
        let serving = |region| Serving { region, probe: ProbeSlot::EMBEDDED };
        let given = [Region::FlySin, Region::FlyAms, Region::FlySin].map(serving);
        let policy = Policy::of(&settings(1_000, 0), 1, given.to_vec());
        assert_eq!(*policy.regions, [Region::FlyAms, Region::FlySin].map(serving));
    }
}
