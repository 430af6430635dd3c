//! Specific sequences that random events produce too rarely.

use std::time::Duration;

use rules::{MonitorStatus, Region, limits};

use super::disturbance::ask_by_hand;
use super::{all_are_well, any_active, pass};
use crate::environment::{Mode, Target, World};

const SECOND: Duration = Duration::from_secs(1);
/// Number of monitors that fail at once, more than the budget has confirmation checks for.
const TURNING: usize = 6;

/// One region fails and the others fall silent, so the failure decides. Then an edit to a longer
/// period makes the old votes of the others valid again. This must not end the outage without a new
/// result.
pub(super) fn edited_to_a_longer_period(world: &mut World) {
    if world.probes.len() < 3 {
        return;
    }
    let place = world.create_as(world.plain_policy(30 * SECOND, 3));
    pass(world, 45 * SECOND);
    world.monitors[place].target = Target::DownIn(Region::ALL[0]);
    world.probes[1] = Mode::Stalls;
    world.probes[2] = Mode::Stalls;
    world.trace(|| format!("monitor {place} fails in one region, and the others are silent"));
    for _ in 0..36 {
        if world.monitors[place].judge_state.status != MonitorStatus::Error {
            pass(world, 5 * SECOND);
        }
    }
    let failing = world.monitors[place].judge_state.status;
    world.probes[0] = Mode::Gone;
    world.edit_to(place, world.plain_policy(600 * SECOND, 3));
    pass(world, 4 * limits::SETTLE_MAX);
    let after = &world.monitors[place].judge_state;
    if (failing, after.status) != (MonitorStatus::Error, MonitorStatus::Error) {
        let what = format!("monitor {place} was {failing} and is {}", after.status);
        world.witness.fail("an edit alone does not end an outage", what);
    }
    all_are_well(world);
    world.edit_to(place, world.plain_policy(30 * SECOND, 3));
    pass(world, 150 * SECOND);
    world.delete(place);
}

/// A region fails and the others are asked to confirm. The monitor is paused, resumed, and fails
/// again within the same period. The witness counts the rounds of confirmation.
pub(super) fn paused_after_confirmation_checks(world: &mut World) {
    if world.probes.len() < 2 {
        return;
    }
    let place = world.create_as(world.plain_policy(60 * SECOND, 2));
    pass(world, 70 * SECOND);
    world.monitors[place].target = Target::Down;
    let begun = world.now;
    for _ in 0..65 {
        if world.witness.seen(place).asked_at < Some(begun) {
            pass(world, SECOND);
        }
    }
    if world.witness.seen(place).asked_at < Some(begun) {
        world
            .witness
            .fail("a failing region requests confirmation checks", format!("monitor {place}"));
    }
    world.pause(place);
    world.monitors[place].target = Target::Up;
    pass(world, SECOND);
    world.resume(place);
    pass(world, 3 * SECOND);
    world.monitors[place].target = Target::Down;
    pass(world, 60 * SECOND);
    world.monitors[place].target = Target::Up;
    pass(world, 130 * SECOND);
    world.delete(place);
}

/// More monitors fail at once than the budget has confirmation checks for. The witness counts them.
pub(super) fn many_turn_at_once(world: &mut World) {
    if world.probes.len() < 2 {
        return;
    }
    let places: Vec<usize> =
        (0..TURNING).map(|_| world.create_as(world.plain_policy(60 * SECOND, 5))).collect();
    pass(world, 65 * SECOND);
    for place in &places {
        world.monitors[*place].target = Target::Down;
        ask_by_hand(world, *place);
    }
    pass(world, SECOND);
    for place in &places {
        world.monitors[*place].target = Target::Up;
    }
    pass(world, 130 * SECOND);
    for place in places {
        world.delete(place);
    }
}

/// Sets the clock back; a later outage must be detected as usual. This comes last, because the
/// witness cannot count repeated slots.
pub(super) fn the_clock_is_set_back(world: &mut World) {
    world.end();
    world.witness.watch_slots();
    let Some(place) = any_active(world) else { return };
    let window = world.monitors[place].policy.vote_validity();
    world.set_back(600 * SECOND);
    pass(world, window);
    let seen = |world: &World| {
        let seen = world.witness.seen(place);
        (seen.opened, seen.closed)
    };
    let before = seen(world);
    world.monitors[place].target = Target::Down;
    world.trace(|| format!("the target of monitor {place} is down"));
    pass(world, 2 * window + limits::SETTLE_MAX);
    let during = seen(world);
    world.monitors[place].target = Target::Up;
    pass(world, 2 * window + limits::SETTLE_MAX);
    let after = seen(world);
    if (before.0 + 1, before.1) != during || (before.0 + 1, before.1 + 1) != after {
        let what = format!("monitor {place}: {before:?}, {during:?}, {after:?}");
        world.witness.fail("setting the clock back hides no outage", what);
    }
}
