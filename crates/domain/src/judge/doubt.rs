//! A probe that doubts itself (design §5 "Votes"): when most of its hosts, fine before, fail within
//! a minute, the fault is nearer than all of them. Pure state; asking canaries, telling people and
//! the new verdicts that follow belong to the pipeline.
//!
//! How a doubt ends: most canaries answer, or half of the hosts or more do, or its time is over.
//! Where canaries answered the first time they were asked, the probe was never cut off, and what it
//! had heard counts again. After a silence of the canaries, and where the hosts came back, failures
//! of slots before the end never count: they would page everybody for checks that ran cut off.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::Duration;

use rules::{Timestamp, limits};

use super::{Ballot, Heard, ProbeSlot};

/// Hosts that were not heard of for this long (twice the longest period) are forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(2);
/// How often hosts to forget are looked for.
const SWEPT_EVERY: Duration = Duration::from_mins(10);

/// What the probes' hosts say of the probes. All are sound at the start.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
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
    /// Its votes are void from now on, and the owners are told.
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

#[derive(Clone, Debug, Default)]
struct Probe {
    hosts: HashMap<HostMark, HostState>,
    /// Hosts whose last report failed.
    failing: u32,
    /// When hosts turned from fine to failing within the last minute, in that order.
    turns: VecDeque<(Timestamp, HostMark)>,
    /// How many of these still fail.
    turned: u32,
    doubt: Option<Doubt>,
    standing: Standing,
    swept_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct HostState {
    failing: bool,
    /// When it turned to failing, while that is among [`Probe::turns`].
    turned_at: Option<Timestamp>,
    finished_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct Doubt {
    since: Timestamp,
    /// When the canaries were silent last.
    silent_at: Option<Timestamp>,
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
    /// Hears what a result says of its host.
    pub fn hear(&mut self, report: HostReport, now: Timestamp) -> Option<DoubtChange> {
        self.pass_to(now);
        let number = usize::from(report.probe.0);
        if self.probes.len() <= number {
            self.probes.resize_with(number + 1, Probe::default);
        }
        let probe = &mut self.probes[number];
        probe.sweep(now);
        probe.note(&report, now);
        match probe.doubt {
            Some(_) => probe.ended_by_hosts(report.probe, now),
            None => probe.begun(report.probe, now),
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
        self.probes.iter().filter_map(|probe| probe.doubt).map(Doubt::end).min()
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

impl Doubt {
    fn end(self) -> Timestamp {
        let confirmed = self.silent_at.unwrap_or(self.since);
        (confirmed + limits::SELF_DOUBT_UNCONFIRMED_MAX).min(self.since + limits::SELF_DOUBT_MAX)
    }
}

impl Probe {
    fn set_back(&mut self, now: Timestamp) {
        for host in self.hosts.values_mut() {
            host.finished_at = host.finished_at.min(now);
            host.turned_at = host.turned_at.map(|at| at.min(now));
        }
        self.turns.iter_mut().for_each(|(at, _)| *at = now.min(*at));
        self.swept_at = self.swept_at.min(now);
        if let Some(doubt) = &mut self.doubt {
            doubt.since = doubt.since.min(now);
            doubt.silent_at = doubt.silent_at.map(|at| at.min(now));
        }
        if let Standing::SoundSince(since) = &mut self.standing {
            *since = now.min(*since);
        }
    }

    /// Takes a report into account.
    fn note(&mut self, report: &HostReport, now: Timestamp) {
        self.forget_turns(now);
        let fresh = HostState { failing: false, turned_at: None, finished_at: report.finished_at };
        let known = self.hosts.contains_key(&report.host);
        let host = self.hosts.entry(report.host).or_insert(fresh);
        if host.finished_at > report.finished_at {
            return;
        }
        host.finished_at = report.finished_at;
        match (host.failing, report.failed) {
            (false, true) => {
                host.failing = true;
                self.failing += 1;
                // A host that was never fine says nothing of the probe.
                if known {
                    host.turned_at = Some(now);
                    self.turned += 1;
                    self.turns.push_back((now, report.host));
                }
            }
            (true, false) => {
                host.failing = false;
                self.failing -= 1;
                self.turned -= u32::from(host.turned_at.take().is_some());
            }
            (true, true) | (false, false) => {}
        }
    }

    fn forget_turns(&mut self, now: Timestamp) {
        while let Some((at, mark)) = self.turns.front().copied() {
            if at <= now && now.since(at) <= limits::SELF_DOUBT_WITHIN {
                return;
            }
            self.turns.pop_front();
            if let Some(host) = self.hosts.get_mut(&mark).filter(|it| it.turned_at == Some(at)) {
                host.turned_at = None;
                self.turned -= 1;
            }
        }
    }

    fn sweep(&mut self, now: Timestamp) {
        if now.since(self.swept_at) < SWEPT_EVERY {
            return;
        }
        self.swept_at = now;
        self.hosts.retain(|_, host| now.since(host.finished_at) <= FORGOTTEN_AFTER);
        self.failing = self.hosts.values().filter(|host| host.failing).count() as u32;
        self.turned = self.hosts.values().filter(|host| host.turned_at.is_some()).count() as u32;
    }

    fn begun(&mut self, slot: ProbeSlot, now: Timestamp) -> Option<DoubtChange> {
        let hosts = self.hosts.len();
        if hosts < limits::SELF_DOUBT_HOSTS_MIN || 2 * self.turned as usize <= hosts {
            return None;
        }
        self.doubt = Some(Doubt { since: now, silent_at: None });
        self.standing = Standing::Void;
        let (failing, hosts) = (self.turned, hosts as u32);
        Some(DoubtChange::Doubts { probe: slot, since: now, failing, hosts })
    }

    fn ended_by_hosts(&mut self, slot: ProbeSlot, now: Timestamp) -> Option<DoubtChange> {
        if 2 * self.failing as usize > self.hosts.len() {
            return None;
        }
        self.end(slot, Relief::Hosts, Standing::SoundSince(now))
    }

    fn end(&mut self, slot: ProbeSlot, relief: Relief, standing: Standing) -> Option<DoubtChange> {
        let since = self.doubt.take()?.since;
        self.standing = standing;
        // What turned before says nothing of what comes now.
        self.turns.clear();
        self.turned = 0;
        self.hosts.values_mut().for_each(|host| host.turned_at = None);
        Some(DoubtChange::Recovered { probe: slot, since, relief })
    }
}

#[cfg(test)]
mod tests;
