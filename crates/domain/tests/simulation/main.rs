//! Simulates judge and schedule with random monitors, probes and targets: results arrive late,
//! lost, duplicated or reordered, with edits, pauses and restarts. Checks the invariants of design
//! §5 after every step. A seed that violates one is printed with its last events;
//! `ALOFT_SIMULATION_SEED=7 cargo test -p aloft-domain --test simulation` repeats it.

mod chance;
mod environment;
mod invariants;
mod scenarios;

use std::sync::atomic::{AtomicU64, Ordering};

use environment::World;

/// Number of seeds in every run.
const SEEDS: u64 = 1_000;
/// Number of events shown for a seed that violates an invariant.
const EVENTS_SHOWN: usize = 60;

#[test]
fn thousand_seeds_keep_every_invariant() {
    #[expect(clippy::disallowed_methods, reason = "a seed to repeat, read only here")]
    let given = std::env::var("ALOFT_SIMULATION_SEED").ok();
    if let Some(seed) = given {
        return play(seed.parse().expect("a seed is a whole number"));
    }
    let next = AtomicU64::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                seeds.take_while(|seed| *seed < SEEDS).for_each(play);
            });
        }
    });
}

/// Runs a seed; repeats it with a trace if it violates an invariant.
fn play(seed: u64) {
    let broken = scenarios::all(&mut World::new(seed, false));
    if broken.is_none() {
        return;
    }
    let mut world = World::new(seed, true);
    let broken = scenarios::all(&mut world).expect("a seed always gives the same run");
    let shown = world.trace.len().saturating_sub(EVENTS_SHOWN);
    panic!("seed {seed}: {broken}\nthe last events:\n{}", world.trace[shown..].join("\n"));
}
