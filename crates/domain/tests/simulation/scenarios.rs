//! The scenarios of a simulation, with the invariants checked at the end of each: random
//! disturbance, then calm, outages, misreporting or disconnected probes, and specific sequences
//! that random events rarely produce.

mod disturbance;
mod order;
mod stories;
mod troubles;

use std::time::Duration;

use rules::{MonitorStatus, Timestamp};

pub(crate) use disturbance::disturb;

use crate::environment::{Mode, World};

/// After this time without disturbance, all delayed results have arrived and every suspicion is
/// over.
const CALM: Duration = Duration::from_mins(9);

/// Runs all scenarios; returns the first violated invariant.
pub(crate) fn all(world: &mut World) -> Option<String> {
    let acts: [fn(&mut World); 10] = [
        disturbance::play,
        troubles::outage,
        troubles::resolved_by_hand,
        troubles::liar,
        troubles::cut_off,
        stories::edited_to_a_longer_period,
        stories::paused_after_confirmation_checks,
        stories::many_turn_at_once,
        order::play,
        stories::the_clock_is_set_back,
    ];
    for act in acts {
        act(world);
        if world.witness.broken.is_some() {
            break;
        }
    }
    world.witness.broken.take()
}

/// Ends all disturbances.
fn all_are_well(world: &mut World) {
    world.probes.fill(Mode::Honest);
    for watched in &mut world.monitors {
        watched.target = crate::environment::Target::Up;
    }
}

fn all_are_active(world: &mut World) {
    for place in 0..world.monitors.len() {
        let watched = &world.monitors[place];
        let status = watched.judge_state.status;
        let is_well = status == MonitorStatus::Active && watched.judge_state.incident.is_none();
        if watched.policy.active && !is_well {
            let what = format!("monitor {place} is {status}");
            world.witness.fail("every running monitor is active after calm", what);
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
