//! An outage, a probe that lies, and probes that are cut off.

use std::time::Duration;

use aloft_domain::judge::ProbeSlot;
use rules::{MonitorStatus, limits};

use super::{CALM, all_are_active, any_active, pass};
use crate::world::{Mode, Target, World};

/// Monitors that run while probes are cut off: enough for every probe to doubt itself.
const PLENTY: usize = 8;
/// Of a hundred worlds, in so many the probes are cut off for longer than a doubt may last.
const CUT_OFF_FOR_LONG: u64 = 3;

/// All regions see a target down for long enough: one incident, and one end of it.
pub(super) fn outage(world: &mut World) {
    let Some(place) = any_active(world) else { return };
    let before = (world.witness.seen(place).opened, world.witness.seen(place).closed);
    let window = world.monitors[place].policy.window();
    world.monitors[place].target = Target::Down;
    world.note(|| format!("the target of monitor {place} is down"));
    pass(world, window);
    if world.chance.percent(30) {
        world.restart();
    }
    pass(world, window + limits::SETTLE_MAX);
    let during = (world.witness.seen(place).opened, world.witness.seen(place).closed);
    world.monitors[place].target = Target::Up;
    world.note(|| format!("the target of monitor {place} is up"));
    pass(world, 2 * window + limits::SETTLE_MAX);
    let after = (world.witness.seen(place).opened, world.witness.seen(place).closed);
    // Where there is no other host, or the probe has few, it may doubt itself for a while instead.
    if (before.0 + 1, before.1) != during || (before.0 + 1, before.1 + 1) != after {
        let what = format!("monitor {place}: {before:?}, {during:?}, {after:?}");
        world.witness.fail("an outage opens one incident, which closes once", what);
    }
    all_are_active(world);
}

/// An outage that a person calls over while it lasts: one incident, whose end is that word, and a
/// recovery in silence.
pub(super) fn resolved_by_hand(world: &mut World) {
    let Some(place) = any_active(world) else { return };
    let counted =
        |world: &World| (world.witness.seen(place).opened, world.witness.seen(place).closed);
    let before = counted(world);
    let window = world.monitors[place].policy.window();
    world.monitors[place].target = Target::Down;
    world.note(|| format!("the target of monitor {place} is down"));
    pass(world, window + limits::SETTLE_MAX);
    world.resolve(place);
    let resolved = (before.0 + 1, before.1 + 1);
    let mut seen = vec![counted(world)];
    pass(world, window);
    // Where its probe doubts itself meanwhile, nothing is known, and what comes after is news.
    let is_known = world.monitors[place].history.status == MonitorStatus::Error;
    seen.push(counted(world));
    world.monitors[place].target = Target::Up;
    pass(world, 2 * window + limits::SETTLE_MAX);
    seen.push(counted(world));
    if is_known && seen.iter().any(|seen| *seen != resolved) {
        let what = format!("monitor {place}: {before:?}, then {seen:?}");
        world.witness.fail("who resolves an incident hears no more of its outage", what);
    }
    all_are_active(world);
}

/// One probe says that everything fails: where it is a minority, nothing opens.
pub(super) fn liar(world: &mut World) {
    let liar = world.chance.place(world.probes.len());
    let opened: Vec<u32> =
        (0..world.monitors.len()).map(|place| world.witness.seen(place).opened).collect();
    world.probes[liar] = Mode::Lies;
    world.note(|| format!("probe {liar} lies"));
    pass(world, Duration::from_mins(2));
    if let Some(place) = any_active(world).filter(|_| world.chance.percent(30)) {
        // An edit that makes the liar a majority is no matter of this act.
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

/// Whether `probe` has less than half of the votes of a monitor.
fn outvoted(world: &World, place: usize, probe: usize) -> bool {
    let policy = &world.monitors[place].policy;
    let mut probes: Vec<u16> = policy.regions.iter().map(|serving| serving.probe.0).collect();
    probes.sort_unstable();
    probes.dedup();
    policy.active && probes.len() > 2 && probes.contains(&(probe as u16))
}
/// Every probe sees everything down, and then all is well: a real outage is known in the end, and
/// what failed while a probe was cut off is never held against anybody after.
pub(super) fn cut_off(world: &mut World) {
    let running = world.monitors.iter().filter(|watched| watched.policy.active).count();
    let helpers: Vec<usize> = (running..PLENTY).map(|_| world.create()).collect();
    pass(world, Duration::from_secs(70));
    world.probes.fill(Mode::Lies);
    world.note(|| "every probe is cut off".to_owned());
    let for_long = world.chance.percent(CUT_OFF_FOR_LONG);
    // Long enough for every doubt to have ended, or short enough for none of those confirmed.
    let over = limits::SELF_DOUBT_MAX + Duration::from_mins(2);
    let time = if for_long { over } else { Duration::from_mins(2) };
    pass(world, time);
    if !world.has_canaries {
        pass(world, limits::SELF_DOUBT_UNCONFIRMED_MAX);
    }
    let doubting: Vec<ProbeSlot> = world.doubts.doubting().collect();
    world.note(|| format!("{doubting:?} doubt themselves"));
    known_in_the_end(world, &doubting);
    back_again(world, &doubting);
    all_are_active(world);
    for place in helpers {
        world.delete(place);
    }
}

fn known_in_the_end(world: &mut World, doubting: &[ProbeSlot]) {
    for place in 0..world.monitors.len() {
        let watched = &world.monitors[place];
        let sound = watched.policy.regions.iter().all(|serving| !doubting.contains(&serving.probe));
        let status = watched.history.status;
        if watched.policy.active && sound && status != MonitorStatus::Error {
            let what = format!("monitor {place} is {status}");
            world.witness.fail("an outage is not hidden for ever", what);
        }
    }
}

/// The probes see again what is. Those that doubted themselves until now open no incident.
fn back_again(world: &mut World, doubting: &[ProbeSlot]) {
    let opened = |world: &World| -> Vec<u32> {
        (0..world.monitors.len()).map(|place| world.witness.seen(place).opened).collect()
    };
    let before = opened(world);
    world.probes.fill(Mode::Honest);
    world.note(|| "no probe is cut off any more".to_owned());
    pass(world, Duration::from_mins(4));
    for (place, (before, after)) in before.into_iter().zip(opened(world)).enumerate() {
        let regions = &world.monitors[place].policy.regions;
        if before != after && regions.iter().all(|serving| doubting.contains(&serving.probe)) {
            let what = format!("monitor {place} opened {} incidents", after - before);
            world.witness.fail("failures of the time of a doubt never count", what);
        }
    }
    let left: Vec<ProbeSlot> = world.doubts.doubting().collect();
    if !left.is_empty() {
        world.witness.fail("a probe that sees again doubts itself no more", format!("{left:?}"));
    }
}
