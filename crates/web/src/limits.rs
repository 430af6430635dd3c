//! Rate limits by key, on the clock of the context.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::context::Context;

/// Rate limits per key.
pub type Buckets<Key> =
    RateLimiter<Key, DashMapStateStore<Key>, ContextClock, StateInformationMiddleware>;

/// Rate limit of attempts by unauthenticated clients, per key.
#[derive(Debug)]
pub struct AttemptLimiter<Key: Hash + Eq + Clone>(Buckets<Key>);

/// Clock of the limits: that of the context, without jumps of the system clock.
#[derive(Clone, Debug)]
pub struct ContextClock(Context);

impl Clock for ContextClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.monotonic()
    }
}

impl<Key: Hash + Eq + Clone> AttemptLimiter<Key> {
    /// Creates a limiter that allows `at_once` attempts in a burst, and as many again in each
    /// `within`.
    ///
    /// Panics if `within` is zero.
    pub fn new(ctx: &Context, at_once: NonZeroU32, within: Duration) -> Self {
        let quota = Quota::with_period(within / at_once.get()).expect("the period is positive");
        Self(buckets(quota.allow_burst(at_once), ctx))
    }

    /// Counts an attempt and returns whether it is allowed.
    pub fn try_acquire(&self, key: &Key) -> bool {
        self.acquire(key).is_ok()
    }

    /// Counts an attempt. If it is not allowed, returns the time until the next one.
    pub fn acquire(&self, key: &Key) -> Result<(), Duration> {
        let now = self.0.clock().now();
        self.0.check_key(key).map(drop).map_err(|refused| refused.wait_time_from(now))
    }

    /// Removes the keys that are below their limit again.
    pub fn evict_expired(&self) {
        self.0.retain_recent();
    }
}

/// Creates limits of `quota` per key.
pub fn buckets<Key: Hash + Eq + Clone>(quota: Quota, ctx: &Context) -> Buckets<Key> {
    let clock = ContextClock(ctx.clone());
    Buckets::new(quota, DashMapStateStore::default(), clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    // After the system clock went back by an hour, an address at a limit was blocked for an hour.
    #[test]
    fn limits_do_not_use_the_system_clock() {
        let clock = ContextClock(Context::system());
        let before = clock.now();
        assert!(clock.now() >= before);
        assert!(before < Duration::from_hours(24), "{before:?} is no time since the start");
    }
}
