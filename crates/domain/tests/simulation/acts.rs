//! What happens to a world: a time of disturbance, then calm, an outage, a probe that lies, and a
//! probe that is cut off; with what has to be true at the end of each.

use std::time::Duration;

use aloft_domain::check::{Identity, Trigger};
use aloft_domain::judge::{History, ProbeSlot};
use rules::{MonitorStatus, Timestamp, limits};

use crate::world::{Event, Mode, Target, World};

/// After this time without disturbance all that was late has come, and every doubt is over.
const CALM: Duration = Duration::from_mins(9);

/// Plays all acts; says which promise was broken.
pub(crate) fn all(world: &mut World) -> Option<String> {
    let acts: [fn(&mut World); 5] = [disturbance, outage, liar, cut_off, any_order];
    for act in acts {
        act(world);
        if world.witness.broken.is_some() {
            return world.witness.broken.take();
        }
    }
    world.end();
    world.witness.watch_slots();
    world.witness.broken.take()
}

/// Anything happens for twenty minutes; then all is well again.
fn disturbance(world: &mut World) {
    pass(world, Duration::from_mins(20));
    world.disturbed = false;
    world.probes.fill(Mode::Honest);
    for watched in &mut world.monitors {
        watched.target = Target::Up;
    }
    pass(world, CALM);
    all_are_active(world);
}

/// One thing that happens in a disturbed world.
pub(crate) fn disturb(world: &mut World) {
    let place = world.chance.place(world.monitors.len());
    let (active, deleted) = (world.monitors[place].policy.active, world.monitors[place].deleted);
    match world.chance.below(100) {
        0..45 => {
            let there = rules::Region::ALL[world.chance.place(7)];
            let targets =
                [Target::Up, Target::Down, Target::Slow, Target::DownIn(there), Target::Up];
            let target = targets[world.chance.place(targets.len())];
            world.monitors[place].target = target;
            world.note(|| format!("the target of monitor {place} is {target:?}"));
        }
        45..70 => {
            let probe = world.chance.place(world.probes.len());
            let modes = [Mode::Honest, Mode::Honest, Mode::Lies, Mode::Stalls, Mode::Gone];
            let mode = modes[world.chance.place(modes.len())];
            world.probes[probe] = mode;
            world.note(|| format!("probe {probe} is {mode:?}"));
        }
        _ if deleted => {}
        70..80 if active => world.edit(place),
        80..84 if active => world.pause(place),
        80..90 if !active => world.resume(place),
        90..92 => world.delete(place),
        92..94 => world.create(),
        94..98 => world.restart(),
        _ if active => ask_by_hand(world, place),
        _ => {}
    }
}

fn ask_by_hand(world: &mut World, place: usize) {
    let now = world.now;
    for serving in world.monitors[place].policy.regions.clone() {
        let result = world.result(place, (serving.region, now), Trigger::Manual, now);
        world.at(now + Duration::from_millis(100), Event::Deliver { place, result });
    }
}

/// All regions see a target down for long enough: one incident, and one end of it.
fn outage(world: &mut World) {
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

/// One probe says that everything fails: where it is a minority, nothing opens.
fn liar(world: &mut World) {
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

/// Every probe sees everything down, and then all is well: no doubt outlasts it, and a real outage
/// is known in the end.
fn cut_off(world: &mut World) {
    world.probes.fill(Mode::Lies);
    world.note(|| "every probe is cut off".to_owned());
    let since = world.now;
    pass(world, limits::SELF_DOUBT_MAX / 6);
    let doubting: Vec<ProbeSlot> = world.doubts.doubting().collect();
    world.note(|| format!("{doubting:?} doubt themselves"));
    world.witness.watch_doubt(world.now.since(since));
    for place in 0..world.monitors.len() {
        let watched = &world.monitors[place];
        let sound = watched.policy.regions.iter().all(|serving| !doubting.contains(&serving.probe));
        let status = watched.history.status;
        if watched.policy.active && sound && status != MonitorStatus::Error {
            let what = format!("monitor {place} is {status}");
            world.witness.fail("an outage is not hidden for ever", what);
        }
    }
    world.probes.fill(Mode::Honest);
    pass(world, CALM);
    all_are_active(world);
}

/// What is remembered is a function of the set of results: heard again in another order, and twice.
fn any_order(world: &mut World) {
    for place in 0..world.monitors.len() {
        if !world.monitors[place].policy.active {
            continue;
        }
        let policy = world.monitors[place].policy.clone();
        let mut history = History::new(&policy, world.now);
        for serving in &policy.regions {
            let mut heard = world.witness.heard(place, serving.region);
            heard.retain(|((revision, ..), _)| *revision == policy.revision);
            heard.extend(heard.clone());
            for last in (1..heard.len()).rev() {
                heard.swap(last, world.chance.place(last + 1));
            }
            for ((revision, slot, trigger), (finished_at, outcome)) in heard {
                let monitor = world.monitors[place].id;
                let identity =
                    Identity { monitor, revision, region: serving.region, slot, trigger };
                history.recall(&identity, finished_at, outcome);
            }
            let (ours, theirs) = (
                history.region(serving.region),
                world.monitors[place].history.region(serving.region),
            );
            let same = ours == theirs;
            if !same {
                let what = format!("monitor {place}: {theirs:?} instead of {ours:?}");
                world.witness.fail("order and repetition change nothing", what);
            }
        }
    }
}

fn all_are_active(world: &mut World) {
    for place in 0..world.monitors.len() {
        let watched = &world.monitors[place];
        let status = watched.history.status;
        let is_well = status == MonitorStatus::Active && watched.history.incident.is_none();
        if watched.policy.active && !is_well {
            let what = format!("monitor {place} is {status}");
            world.witness.fail("after calm every running monitor is active", what);
        }
    }
}

fn any_active(world: &mut World) -> Option<usize> {
    let active: Vec<usize> =
        (0..world.monitors.len()).filter(|place| world.monitors[*place].policy.active).collect();
    (!active.is_empty()).then(|| active[world.chance.place(active.len())])
}

fn pass(world: &mut World, time: Duration) {
    let end: Timestamp = world.now + time;
    world.run_until(end);
}
