//! Limits of attempts per key that can be given back. `web::limits` has no such limits, because its
//! library cannot return what it counted.

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use web::context::Context;

/// Attempts per key: some at once, and one more in each `period` (the generic cell rate algorithm).
#[derive(Debug)]
pub(crate) struct Attempts<Key> {
    ctx: Context,
    period: Duration,
    within: Duration,
    /// Time at which all attempts of a key are available again.
    full_at: Mutex<HashMap<Key, Duration>>,
}

impl<Key: Hash + Eq> Attempts<Key> {
    /// Creates limits that allow `at_once` attempts, and as many again in each `within`.
    pub(crate) fn new(ctx: &Context, at_once: NonZeroU32, within: Duration) -> Self {
        let period = within / at_once.get();
        Self { ctx: ctx.clone(), period, within: period * at_once.get(), full_at: Mutex::default() }
    }

    /// Counts an attempt. If it is not allowed, returns the time until the next one.
    pub(crate) fn acquire(&self, key: Key) -> Result<(), Duration> {
        let now = self.ctx.monotonic();
        let mut all = self.lock();
        let full_at = all.entry(key).or_insert(now);
        let next = (*full_at).max(now) + self.period;
        let wait = next.saturating_sub(now + self.within);
        if wait > Duration::ZERO {
            return Err(wait);
        }
        *full_at = next;
        Ok(())
    }

    /// Gives an attempt back that [`Self::acquire`] counted.
    pub(crate) fn give_back(&self, key: &Key) {
        if let Some(full_at) = self.lock().get_mut(key) {
            *full_at = full_at.saturating_sub(self.period);
        }
    }

    /// Removes the keys that have all attempts again.
    pub(crate) fn evict_expired(&self) {
        let now = self.ctx.monotonic();
        self.lock().retain(|_, full_at| *full_at > now);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Duration>> {
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rules::Timestamp;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn attempts_return_with_time_or_when_given_back() {
        let (ctx, clock) = Context::manual(Timestamp::from_millis(0));
        let attempts = Attempts::new(&ctx, NonZeroU32::new(3).unwrap(), 3 * MINUTE);
        for _ in 0..3 {
            assert_eq!(attempts.acquire("ada"), Ok(()));
        }
        assert_eq!(attempts.acquire("ada"), Err(MINUTE));
        assert_eq!(attempts.acquire("bob"), Ok(()));
        attempts.give_back(&"ada");
        assert_eq!(attempts.acquire("ada"), Ok(()));
        clock.advance(MINUTE);
        assert_eq!(attempts.acquire("ada"), Ok(()));
        assert_eq!(attempts.acquire("ada"), Err(MINUTE));
        clock.advance(3 * MINUTE);
        attempts.give_back(&"ada");
        attempts.evict_expired();
        assert!(attempts.lock().is_empty());
        let again = (0..9).filter(|_| attempts.acquire("ada").is_ok());
        assert_eq!(again.count(), 3, "nothing is gained");
    }
}
