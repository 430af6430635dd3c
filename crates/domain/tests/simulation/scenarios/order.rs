//! The state is a function of the set of results: repeats them in another order, and twice.

use aloft_domain::check::ResultKey;
use aloft_domain::judge::JudgeState;

use crate::environment::World;

pub(super) fn play(world: &mut World) {
    for place in 0..world.monitors.len() {
        if !world.monitors[place].policy.active {
            continue;
        }
        let policy = world.monitors[place].policy.clone();
        let mut judge_state = JudgeState::new(&policy, world.now);
        for serving in &policy.regions {
            let mut results = world.witness.recorded(place, serving.region);
            results.retain(|((revision, ..), _)| *revision == policy.revision);
            results.extend(results.clone());
            for last in (1..results.len()).rev() {
                results.swap(last, world.chance.place(last + 1));
            }
            for ((revision, slot, trigger), (finished_at, outcome)) in results {
                let monitor = world.monitors[place].id;
                let identity =
                    ResultKey { monitor, revision, region: serving.region, slot, trigger };
                judge_state.recall(&identity, finished_at, outcome);
            }
            let (ours, theirs) = (
                judge_state.region(serving.region),
                world.monitors[place].judge_state.region(serving.region),
            );
            let same = ours == theirs;
            if !same {
                let what = format!("monitor {place}: {theirs:?} instead of {ours:?}");
                world.witness.fail("order and repetition do not matter", what);
            }
        }
    }
}
