//! Limit of wrong passwords per page, over all clients. After a number of wrong passwords, each
//! further one closes the form for a growing time. Visitors with a session are not affected.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::backoff::Backoff;
use rules::{PageId, Timestamp};

/// Number of wrong passwords before the form is closed for the first time.
const FREE: u32 = 20;
/// Times for which the form is closed after further wrong passwords.
const CLOSED_FOR: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_mins(5) };
/// Time without a wrong password after which the count is reset.
const RESET_AFTER: Duration = Duration::from_hours(1);

/// Wrong passwords by page.
#[derive(Debug, Default)]
pub(super) struct Guesses(Mutex<HashMap<PageId, WrongPasswords>>);

#[derive(Debug)]
struct WrongPasswords {
    count: u32,
    last: Timestamp,
    closed_until: Timestamp,
}

impl Guesses {
    /// Returns how long the form of this page is still closed, or `None` if it is open.
    pub(super) fn closed_for(&self, page: PageId, now: Timestamp) -> Option<Duration> {
        let until = self.lock().get(&page)?.closed_until;
        (until > now).then(|| until.since(now))
    }

    /// Counts a wrong password.
    pub(super) fn record_failure(&self, page: PageId, now: Timestamp) {
        let mut all = self.lock();
        let wrong =
            all.entry(page).or_insert(WrongPasswords { count: 0, last: now, closed_until: now });
        if now.since(wrong.last) > RESET_AFTER {
            wrong.count = 0;
        }
        wrong.count = wrong.count.saturating_add(1);
        wrong.last = now;
        if let Some(beyond) = wrong.count.checked_sub(FREE) {
            wrong.closed_until = now + CLOSED_FOR.pause_after(beyond.saturating_add(1));
        }
    }

    /// Removes pages without recent wrong passwords.
    pub(super) fn evict_expired(&self, now: Timestamp) {
        self.lock().retain(|_, wrong| now.since(wrong.last) <= RESET_AFTER);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PageId, WrongPasswords>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: PageId = PageId::from_bits(1);

    // issue 16, point 10: 4,712 guesses in 2.5 s from rotating addresses
    #[test]
    fn password_guesses_are_delayed_increasingly_per_page() {
        let guesses = Guesses::default();
        let mut now = Timestamp::from_millis(1_800_000_000_000);
        let begun = now;
        let mut made = 0;
        while now.since(begun) < Duration::from_hours(1) {
            if guesses.closed_for(PAGE, now).is_none() {
                guesses.record_failure(PAGE, now);
                made += 1;
            } else {
                now = now + Duration::from_secs(1);
            }
        }
        assert!((FREE..FREE + 25).contains(&made), "{made} guesses in an hour");
        assert!(guesses.closed_for(PageId::from_bits(2), now).is_none(), "each page has its own");
        now = now + CLOSED_FOR.max;
        assert!(guesses.closed_for(PAGE, now).is_none());
        guesses.evict_expired(now + 2 * RESET_AFTER);
        assert!(guesses.lock().is_empty());
    }
}
