//! The judge and its timetable in simulated time: monitors, probes and targets of a seed, results
//! late, lost, doubled and re-ordered, edits, pauses and restarts; and what design §5 promises,
//! held against it after every step. A seed that breaks a promise is printed with its last events;
//! `ALOFT_SIMULATION_SEED=7 cargo test -p aloft-domain --test simulation` plays it again.

mod acts;
mod chance;
mod promises;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use world::World;

/// Seeds that every run plays.
const SEEDS: u64 = 1_000;
/// Events that are shown of a seed that breaks a promise.
const EVENTS_SHOWN: usize = 60;

#[test]
fn a_thousand_seeds_keep_every_promise() {
    #[expect(clippy::disallowed_methods, reason = "a seed to play again; read here only")]
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

/// Plays a seed; one that breaks a promise is played again with its events written down.
fn play(seed: u64) {
    let broken = acts::all(&mut World::of(seed, false));
    if broken.is_none() {
        return;
    }
    let mut world = World::of(seed, true);
    let broken = acts::all(&mut world).expect("a seed plays the same every time");
    let shown = world.trace.len().saturating_sub(EVENTS_SHOWN);
    panic!("seed {seed}: {broken}\nthe last events:\n{}", world.trace[shown..].join("\n"));
}
