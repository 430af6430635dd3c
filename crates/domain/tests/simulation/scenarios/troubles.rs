//! An outage, a misreporting probe, and disconnected probes.

use std::time::Duration;

use aloft_domain::judge::ProbeIndex;
use rules::{MonitorStatus, limits};

use super::{CALM, all_are_active, any_active, pass};
use crate::environment::{Mode, Target, World};

/// Number of active monitors while probes are cut off: enough to make every probe suspect.
const PLENTY: usize = 8;
/// Percentage of worlds in which probes are cut off for longer than a suspicion may last.
const CUT_OFF_FOR_LONG: u64 = 3;
/// Percentage of worlds whose process restarts while probes are cut off.
const RESTARTED_WHILE_CUT_OFF: u64 = 30;

/// All regions see a target down for long enough: one incident opens and closes.
pub(super) fn outage(world: &mut World) {
    let Some(place) = any_active(world) else { return };
    let before = (world.witness.seen(place).opened, world.witness.seen(place).closed);
    let window = world.monitors[place].policy.vote_validity();
    world.monitors[place].target = Target::Down;
    world.trace(|| format!("the target of monitor {place} is down"));
    pass(world, window);
    if world.chance.percent(30) {
        world.restart();
    }
    pass(world, window + limits::SETTLE_MAX);
    let during = (world.witness.seen(place).opened, world.witness.seen(place).closed);
    world.monitors[place].target = Target::Up;
    world.trace(|| format!("the target of monitor {place} is up"));
    pass(world, 2 * window + limits::SETTLE_MAX);
    let after = (world.witness.seen(place).opened, world.witness.seen(place).closed);
    // With few hosts, the probe may become suspect for a while instead.
    if (before.0 + 1, before.1) != during || (before.0 + 1, before.1 + 1) != after {
        let what = format!("monitor {place}: {before:?}, {during:?}, {after:?}");
        world.witness.fail("an outage opens one incident, which closes once", what);
    }
    all_are_active(world);
}

/// A user resolves an incident while its outage lasts: one incident with this end, and a silent
/// recovery.
pub(super) fn resolved_by_hand(world: &mut World) {
    let Some(place) = any_active(world) else { return };
    let counted =
        |world: &World| (world.witness.seen(place).opened, world.witness.seen(place).closed);
    let before = counted(world);
    let window = world.monitors[place].policy.vote_validity();
    world.monitors[place].target = Target::Down;
    world.trace(|| format!("the target of monitor {place} is down"));
    pass(world, window + limits::SETTLE_MAX);
    world.resolve(place);
    let resolved = (before.0 + 1, before.1 + 1);
    let mut seen = vec![counted(world)];
    pass(world, window);
    // If its probe becomes suspect meanwhile, the status is unknown, and a later failure opens a
    // new incident.
    let is_known = world.monitors[place].judge_state.status == MonitorStatus::Error;
    seen.push(counted(world));
    world.monitors[place].target = Target::Up;
    pass(world, 2 * window + limits::SETTLE_MAX);
    seen.push(counted(world));
    if is_known && seen.iter().any(|seen| *seen != resolved) {
        let what = format!("monitor {place}: {before:?}, then {seen:?}");
        world.witness.fail("a resolved incident sends no further alerts", what);
    }
    all_are_active(world);
}

/// One probe reports failures only: as long as it is a minority, no incident opens.
pub(super) fn liar(world: &mut World) {
    let liar = world.chance.place(world.probes.len());
    let opened: Vec<u32> =
        (0..world.monitors.len()).map(|place| world.witness.seen(place).opened).collect();
    world.probes[liar] = Mode::Lies;
    world.trace(|| format!("probe {liar} lies"));
    pass(world, Duration::from_mins(2));
    if let Some(place) = any_active(world).filter(|_| world.chance.percent(30)) {
        // Do not allow an edit that makes this probe a majority.
        if outvoted(world, place, liar) {
            world.edit(place);
        }
    }
    let edited: Vec<bool> =
        (0..world.monitors.len()).map(|place| outvoted(world, place, liar)).collect();
    pass(world, Duration::from_mins(2));
    for (place, outvoted) in edited.into_iter().enumerate() {
        if outvoted
            && world.witness.seen(place).opened != opened[place]
            && world.monitors[place].policy.revision > 0
        {
            let what = format!("monitor {place}, probe {liar}");
            world.witness.fail("a lying minority opens no incident", what);
        }
    }
    world.probes.fill(Mode::Honest);
    pass(world, CALM);
    all_are_active(world);
}

/// Returns whether `probe` has less than half of the votes of a monitor.
fn outvoted(world: &World, place: usize, probe: usize) -> bool {
    let policy = &world.monitors[place].policy;
    let mut probes: Vec<u16> = policy.regions.iter().map(|serving| serving.probe.0).collect();
    probes.sort_unstable();
    probes.dedup();
    policy.active && probes.len() > 2 && probes.contains(&(probe as u16))
}
/// Every probe sees everything down, then recovers. A real outage must be detected in the end, and
/// failures reported while a probe was cut off must never count later.
pub(super) fn cut_off(world: &mut World) {
    let running = world.monitors.iter().filter(|watched| watched.policy.active).count();
    let helpers: Vec<usize> = (running..PLENTY).map(|_| world.create()).collect();
    pass(world, Duration::from_secs(70));
    world.probes.fill(Mode::Lies);
    world.trace(|| "every probe is cut off".to_owned());
    let for_long = world.chance.percent(CUT_OFF_FOR_LONG);
    // Long enough to end every suspicion, or short enough to end no confirmed one.
    let over = limits::SUSPICION_MAX + Duration::from_mins(2);
    let time = if for_long { over } else { Duration::from_mins(2) };
    pass(world, time);
    if !world.has_connectivity_check {
        pass(world, limits::SUSPICION_UNCONFIRMED_MAX);
    }
    let suspects: Vec<ProbeIndex> = world.suspicions.suspects().collect();
    world.trace(|| format!("{suspects:?} are suspect"));
    known_in_the_end(world, &suspects);
    if world.chance.percent(RESTARTED_WHILE_CUT_OFF) {
        world.restart();
    }
    back_again(world, &suspects);
    all_are_active(world);
    for place in helpers {
        world.delete(place);
    }
}

fn known_in_the_end(world: &mut World, suspects: &[ProbeIndex]) {
    for place in 0..world.monitors.len() {
        let watched = &world.monitors[place];
        let sound = watched.policy.regions.iter().all(|serving| !suspects.contains(&serving.probe));
        let status = watched.judge_state.status;
        if watched.policy.active && sound && status != MonitorStatus::Error {
            let what = format!("monitor {place} is {status}");
            world.witness.fail("an outage is not hidden forever", what);
        }
    }
}

/// Reconnects the probes. Probes that were suspect until now must open no incident.
fn back_again(world: &mut World, suspects: &[ProbeIndex]) {
    let opened = |world: &World| -> Vec<u32> {
        (0..world.monitors.len()).map(|place| world.witness.seen(place).opened).collect()
    };
    let before = opened(world);
    world.probes.fill(Mode::Honest);
    world.trace(|| "no probe is cut off any more".to_owned());
    pass(world, Duration::from_mins(4));
    for (place, (before, after)) in before.into_iter().zip(opened(world)).enumerate() {
        let regions = &world.monitors[place].policy.regions;
        if before != after && regions.iter().all(|serving| suspects.contains(&serving.probe)) {
            let what = format!("monitor {place} opened {} incidents", after - before);
            world.witness.fail("failures reported during a suspicion never count", what);
        }
    }
    let left: Vec<ProbeIndex> = world.suspicions.suspects().collect();
    if !left.is_empty() {
        world.witness.fail("a reconnected probe is not suspect", format!("{left:?}"));
    }
}
