//! How those are who serve the regions, as far as the judge knows: when one was heard last, whether it
//! doubts itself, and whether it says nothing where it should.

use std::time::Duration;

use domain::judge::{ProbeSlot, Standing};
use rules::{Region, Timestamp};

use super::{Judge, Watched};

/// How long an answer to "who is silent" is good for: it takes a look at every monitor.
const SILENCE_LOOKED_FOR_EVERY: Duration = Duration::from_secs(1);

/// How a region's checks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionHealth {
    /// Which region.
    pub region: Region,
    /// How who serves it is.
    pub health: Health,
    /// When who serves it was last heard of: the end of its latest check.
    pub heard_at: Option<Timestamp>,
}

/// How a probe is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing is known against it.
    Healthy,
    /// Most of its hosts failed at once: its votes are void.
    Doubting,
    /// None of the checks that are due in the region ended in time.
    Stalled,
}

/// When each probe was heard last, and which regions are silent.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    /// By the number of the probe.
    heard_at: Vec<Option<Timestamp>>,
    silent: Option<(Timestamp, [bool; Region::ALL.len()])>,
}

impl Health {
    /// The word that is answered.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Doubting => "doubting",
            Self::Stalled => "stalled",
        }
    }
}

impl Pulse {
    /// A check of this probe ended.
    pub(super) fn note(&mut self, probe: ProbeSlot, at: Timestamp) {
        let number = usize::from(probe.0);
        if self.heard_at.len() <= number {
            self.heard_at.resize(number + 1, None);
        }
        self.heard_at[number] = self.heard_at[number].max(Some(at));
    }

    fn of(&self, probe: ProbeSlot) -> Option<Timestamp> {
        self.heard_at.get(usize::from(probe.0)).copied().flatten()
    }
}

impl Judge {
    /// How each region is.
    pub(super) fn regions(&mut self) -> Vec<RegionHealth> {
        let silent = self.silent();
        let health = |region: &Region| {
            let probe = self.canaries.probes.serving(*region).probe;
            let health = match (self.doubts.standing(probe), silent[*region as usize]) {
                (Standing::Void, _) => Health::Doubting,
                (Standing::Sound | Standing::SoundSince(_), true) => Health::Stalled,
                (Standing::Sound | Standing::SoundSince(_), false) => Health::Healthy,
            };
            RegionHealth { region: *region, health, heard_at: self.pulse.of(probe) }
        };
        Region::ALL.iter().map(health).collect()
    }

    /// The regions in which checks are due and none of them was heard for as long as a vote lives.
    fn silent(&mut self) -> [bool; Region::ALL.len()] {
        let now = self.ctx.now();
        if let Some((at, silent)) = self.pulse.silent
            && at <= now
            && now.since(at) < SILENCE_LOOKED_FOR_EVERY
        {
            return silent;
        }
        let (mut due, mut heard) = ([false; Region::ALL.len()], [false; Region::ALL.len()]);
        for watched in self.watched.values() {
            for (region, is_heard) in watched.pulse(now) {
                due[region as usize] = true;
                heard[region as usize] |= is_heard;
            }
        }
        let silent = std::array::from_fn(|region| due[region] && !heard[region]);
        self.pulse.silent = Some((now, silent));
        silent
    }
}

impl Watched {
    /// The regions in which a check should have ended by now, and whether one has. Of a monitor that
    /// has not run for that long nothing is due.
    fn pulse(&self, now: Timestamp) -> impl Iterator<Item = (Region, bool)> {
        let window = self.policy.window();
        let is_due = now.since(self.runs_since) > window;
        self.history.regions.iter().filter(move |_| is_due).map(move |state| {
            let heard = state.latest.is_some_and(|last| now.since(last.finished_at) <= window);
            (state.region, heard)
        })
    }
}
