//! A probe that doubts itself (design §5 "Votes"): when most of its hosts, fine before, fail within
//! a minute, the fault may be nearer than all of them. Each workspace has the same weight, however many
//! hosts it has. Pure state; asking canaries, telling people and the new verdicts that follow belong to
//! the pipeline.
//!
//! A doubt without canaries to ask mutes nothing: it only adds a line to alerts. With canaries the votes
//! of the probe are void until they answer, or are silent; if neither is known in time, the votes count.
//!
//! How a doubt ends: most canaries answer, or half of the hosts or more do, or its time is over.
//! Where canaries answered the first time they were asked, the probe was never cut off, and what it
//! had heard counts again. After a silence of the canaries, and where the hosts came back, failures
//! of slots before the end never count: they would page everybody for checks that ran cut off.

mod probe;

use std::fmt;
use std::time::Duration;

use rules::{Timestamp, WorkspaceId};

use self::probe::Probe;
use super::{Ballot, Heard, ProbeSlot};

/// Hosts that were not heard of for this long (twice the longest period) are forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(2);
/// How often hosts to forget are looked for.
const SWEPT_EVERY: Duration = Duration::from_mins(10);

/// What the probes' hosts say of the probes. All are sound at the start.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    /// Whether there are canaries to ask; without them a doubt mutes nothing.
    has_canaries: bool,
    /// By the number of the [`ProbeSlot`].
    probes: Vec<Probe>,
    /// When something was heard last: an earlier instant after it says that the clock was set back.
    now: Timestamp,
}

/// A host as far as it has to be told from others: a hash of its name, without case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostMark(u64);

/// What one result says of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostReport {
    /// Who ran the check.
    pub probe: ProbeSlot,
    /// Whose monitor it is.
    pub workspace: WorkspaceId,
    /// Which host was checked.
    pub host: HostMark,
    /// Whether the check failed.
    pub failed: bool,
    /// When it ended; reports older than the host's last one change nothing.
    pub finished_at: Timestamp,
}

/// What a probe's canaries came to, asked once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canaries {
    /// How many were asked; none say nothing.
    pub asked: u32,
    /// How many of them answered.
    pub answered: u32,
}

/// Whether what a probe reports counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// All of it.
    #[default]
    Sound,
    /// All but failures of slots before this instant: the probe was cut off until then.
    SoundSince(Timestamp),
    /// Nothing: the probe doubts itself.
    Void,
}

/// A probe begins to doubt itself, or ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoubtChange {
    /// The owners are told. Its votes are void from now on if there are canaries.
    Doubts {
        /// Which probe.
        probe: ProbeSlot,
        /// Since when.
        since: Timestamp,
        /// How many hosts failed within the minute.
        failing: u32,
        /// Of how many.
        hosts: u32,
    },
    /// Its votes count again.
    Recovered {
        /// Which probe.
        probe: ProbeSlot,
        /// Since when it had doubted itself.
        since: Timestamp,
        /// What ended the doubt.
        relief: Relief,
    },
}

/// What ends a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relief {
    /// Most canaries answered.
    Canaries,
    /// Half of the hosts or more answered.
    Hosts,
    /// Its time was over.
    Time,
}

impl HostMark {
    /// The mark of a host name or address.
    pub fn of(name: &str) -> Self {
        // FNV-1a: the mark lives as long as the process and meets no adversary who gains by it.
        let fold = |hash: u64, byte: u8| {
            (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
        };
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }
}

impl Standing {
    /// Whether a result of the probe has a vote, as far as the probe is concerned.
    pub(super) fn counts(self, heard: &Heard) -> bool {
        match self {
            Self::Sound => true,
            Self::SoundSince(since) => heard.ballot != Ballot::Failing || heard.slot >= since,
            Self::Void => false,
        }
    }
}

impl Doubts {
    /// No probe doubts itself yet. Without canaries a doubt mutes nothing.
    pub fn new(has_canaries: bool) -> Self {
        Self { has_canaries, ..Self::default() }
    }

    /// Hosts that failed within a minute and all hosts of a probe that doubts itself, when it began to.
    pub fn suspicion(&self, probe: ProbeSlot) -> Option<(u32, u32)> {
        let doubt = self.probes.get(usize::from(probe.0))?.doubt?;
        Some((doubt.failing, doubt.hosts))
    }

    /// Hears what a result says of its host.
    pub fn hear(&mut self, report: HostReport, now: Timestamp) -> Option<DoubtChange> {
        self.pass_to(now);
        let has_canaries = self.has_canaries;
        let number = usize::from(report.probe.0);
        if self.probes.len() <= number {
            self.probes.resize_with(number + 1, Probe::default);
        }
        let probe = &mut self.probes[number];
        probe.sweep(now);
        probe.note(&report, now);
        match probe.doubt {
            Some(_) => probe.ended_by_hosts(report.probe, now),
            None => probe.begun(report.probe, has_canaries, now),
        }
    }

    /// Hears what a probe's canaries came to.
    pub fn hear_canaries(
        &mut self,
        slot: ProbeSlot,
        canaries: Canaries,
        now: Timestamp,
    ) -> Option<DoubtChange> {
        self.pass_to(now);
        let probe = self.probes.get_mut(usize::from(slot.0))?;
        let doubt = probe.doubt.as_mut().filter(|_| canaries.asked > 0)?;
        if 2 * canaries.answered <= canaries.asked {
            doubt.silent_at = Some(now);
            return None;
        }
        let standing = match doubt.silent_at {
            Some(_) => Standing::SoundSince(now),
            None => Standing::Sound,
        };
        probe.end(slot, Relief::Canaries, standing)
    }

    /// Time has passed: ends the first doubt whose time is over, if there is one.
    pub fn tick(&mut self, now: Timestamp) -> Option<DoubtChange> {
        self.pass_to(now);
        let number = self
            .probes
            .iter()
            .position(|probe| probe.doubt.is_some_and(|doubt| doubt.end() <= now))?;
        self.probes[number].end(slot_of(number), Relief::Time, Standing::Sound)
    }

    /// Where the clock was set back, what is remembered of later instants counts as of now: reports
    /// to come are later than these, and a doubt ends as soon as it would have.
    fn pass_to(&mut self, now: Timestamp) {
        if now < self.now {
            self.probes.iter_mut().for_each(|probe| probe.set_back(now));
        }
        self.now = now;
    }

    /// When [`Self::tick`] has something to end.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.probes.iter().filter_map(|probe| probe.doubt).map(probe::Doubt::end).min()
    }

    /// The probes that doubt themselves.
    pub fn doubting(&self) -> impl Iterator<Item = ProbeSlot> {
        let doubting = self.probes.iter().enumerate().filter(|(_, probe)| probe.doubt.is_some());
        doubting.map(|(number, _)| slot_of(number))
    }

    /// Whether what `probe` reports counts.
    pub fn standing(&self, probe: ProbeSlot) -> Standing {
        self.probes.get(usize::from(probe.0)).map_or(Standing::Sound, |probe| probe.standing)
    }
}

impl fmt::Display for Relief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Canaries => "its canaries answer",
            Self::Hosts => "half of its hosts or more answer",
            Self::Time => "nothing confirmed it in time",
        })
    }
}

fn slot_of(number: usize) -> ProbeSlot {
    ProbeSlot(u16::try_from(number).expect("probes are held by the number of a slot"))
}

#[cfg(test)]
mod tests;
