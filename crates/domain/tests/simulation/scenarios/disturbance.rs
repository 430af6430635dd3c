//! Random events for twenty minutes, then calm.

use std::time::Duration;

use aloft_domain::check::Trigger;

use super::{CALM, all_are_active, pass};
use crate::environment::{Event, Mode, Target, World};

pub(super) fn play(world: &mut World) {
    pass(world, Duration::from_mins(20));
    world.disturbed = false;
    for place in 0..world.monitors.len() {
        if world.monitors[place].policy.active {
            world.edit(place);
        }
    }
    world.probes.fill(Mode::Honest);
    for watched in &mut world.monitors {
        watched.target = Target::Up;
    }
    pass(world, CALM);
    all_are_active(world);
}

/// Causes one random event.
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
            world.trace(|| format!("the target of monitor {place} is {target:?}"));
        }
        45..50 => {
            let open = |place: &usize| world.monitors[*place].judge_state.incident.is_some();
            if let Some(place) = (0..world.monitors.len()).find(open) {
                world.resolve(place);
            }
        }
        50..70 => {
            let probe = world.chance.place(world.probes.len());
            let modes = [Mode::Honest, Mode::Honest, Mode::Lies, Mode::Stalls, Mode::Gone];
            let mode = modes[world.chance.place(modes.len())];
            world.probes[probe] = mode;
            world.trace(|| format!("probe {probe} is {mode:?}"));
        }
        _ if deleted => {}
        70..80 if active => world.edit(place),
        80..84 if active => world.pause(place),
        80..90 if !active => world.resume(place),
        90..92 => world.delete(place),
        92..94 => {
            world.create();
        }
        94..98 => world.restart(),
        _ if active => ask_by_hand(world, place),
        _ => {}
    }
}

/// Runs a manual check of a monitor in all its regions.
pub(super) fn ask_by_hand(world: &mut World, place: usize) {
    let now = world.now;
    for serving in world.monitors[place].policy.regions.clone() {
        let result = world.result(place, (serving.region, now), Trigger::Manual, now);
        world.at(now + Duration::from_millis(100), Event::Deliver { place, result });
    }
}
