//! Decides the time of the next request for a certificate, and the consequence of a failure for
//! other names. Pure.
//!
//! A certificate is renewed at the time that its authority suggests, or else after two thirds of its
//! lifetime.

use std::time::Duration;

use domain::backoff::Backoff;
use rules::{DomainName, Timestamp};
use store::DomainCertificate;

/// Pauses after failures. They stay below Let's Encrypt's limit of five failures an hour, and a
/// domain that points elsewhere is retried twice a day.
const BACKOFF: Backoff = Backoff { first: Duration::from_mins(5), max: Duration::from_hours(12) };

/// Maximum pause for all names if the server's limit is only assumed.
const QUIET_MAX: Duration = Duration::from_hours(1);
/// Minimum and maximum validity of a renewal suggestion (RFC 9773 §4.3.2).
const SUGGESTED_FOR: (Duration, Duration) = (Duration::from_mins(1), Duration::from_hours(24));
/// Pause before the next request to an authority without a suggestion.
const POLL_WITHOUT_SUGGESTION: Duration = Duration::from_hours(6);

/// The consequence of a failure for the certificates of other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureScope {
    /// No consequence.
    ThisName,
    /// The server accepts orders.
    OrderAccepted,
    /// The order exceeded a limit of this name or of the account.
    NameOrAccount,
    /// The server requests a pause for all names.
    AllNames,
}

/// A sequence of refusals. A limit that affects one name after another is a limit of the account.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Last refused name, if no order was accepted since.
    last: Option<DomainName>,
}

/// The renewal window that an authority suggests (RFC 9773 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

impl Refusals {
    /// Returns the end of the pause for all names after a failure of this one. This name itself is
    /// retried at `then`.
    pub(super) fn pause_until(
        &mut self,
        domain: &DomainName,
        scope: FailureScope,
        (now, then): (Timestamp, Timestamp),
    ) -> Option<Timestamp> {
        match scope {
            FailureScope::ThisName => None,
            FailureScope::OrderAccepted => {
                self.record_accepted_order();
                None
            }
            FailureScope::NameOrAccount => {
                let is_in_a_row = self.last.as_ref().is_some_and(|last| last != domain);
                self.last = Some(domain.clone());
                is_in_a_row.then(|| then.min(now + QUIET_MAX))
            }
            FailureScope::AllNames => Some(then),
        }
    }

    /// Records an accepted order.
    pub(super) fn record_accepted_order(&mut self) {
        self.last = None;
    }
}

/// Returns the time of renewal of a certificate with this `planned` time and suggested window.
///
/// A planned time within the window remains. Otherwise the time is random within the window, or now if
/// the window is over. Windows that are empty or begin after the expiry are ignored.
pub(super) fn renewal_time(
    (planned, expires_at): (Timestamp, Timestamp),
    window: Window,
    now: Timestamp,
    chance: u64,
) -> Timestamp {
    let Window { from, until } = window;
    if until <= from || from >= expires_at || (from <= planned && planned <= until) {
        return planned;
    }
    if until <= now {
        return now;
    }
    let from = from.max(now);
    let length = u64::try_from(until.since(from).as_millis()).unwrap_or(u64::MAX);
    from + Duration::from_millis(chance % length.max(1))
}

/// Returns the time of the next request for a suggestion: as the authority states, within a day.
/// Without a suggestion it is later.
pub(super) fn next_refresh(now: Timestamp, holds: Option<Duration>) -> Timestamp {
    let (least, most) = SUGGESTED_FOR;
    now + holds.map_or(POLL_WITHOUT_SUGGESTION, |holds| holds.clamp(least, most))
}

/// Returns the time of the request for a certificate of this name, or `None` (now) if none was ever
/// requested.
pub(super) fn due(known: &DomainCertificate) -> Option<Timestamp> {
    let wanted = known.issued.as_ref().map(|issued| issued.renew_at);
    // The later of both: respect the pause, and do not renew early.
    wanted.max(known.next_attempt_at)
}

/// Returns the time of the next attempt after attempt number `attempts`, which fails now. The server may
/// require a longer pause.
pub(super) fn next_attempt(
    attempts: u32,
    now: Timestamp,
    retry_after: Option<Duration>,
) -> Timestamp {
    now + BACKOFF.pause_after(attempts).max(retry_after.unwrap_or_default())
}

/// Returns the time of renewal of a certificate issued now: after two thirds of its lifetime. It is
/// counted from now, because the clock of the authority may differ.
pub(super) fn default_renewal(now: Timestamp, (from, until): (Timestamp, Timestamp)) -> Timestamp {
    now + until.since(from) * 2 / 3
}

#[cfg(test)]
mod tests {
    use rules::Secret;
    use store::IssuedCertificate;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn at(day: i64) -> Timestamp {
        Timestamp::from_millis(day * 86_400_000)
    }

    #[test]
    fn renewal_is_due_after_two_thirds() {
        // issue 7: "stored, renewed certificates"
        assert_eq!(default_renewal(at(100), (at(100), at(190))), at(160));
        assert_eq!(default_renewal(at(500), (at(100), at(190))), at(560));
    }

    // issue 7: one name at its limit does not delay other names
    #[test]
    fn limit_spreads_after_a_second_name_meets_it() {
        let name = |text: &str| DomainName::parse(text).unwrap();
        let (a, b, c) = (name("a.example"), name("b.example"), name("c.example"));
        let (now, then) = (at(1), at(2));
        let hour = now + Duration::from_hours(1);
        let mut refusals = Refusals::default();
        let mut quiet = |domain, scope| refusals.pause_until(domain, scope, (now, then));
        assert_eq!(quiet(&a, FailureScope::NameOrAccount), None, "it may be of this name");
        assert_eq!(quiet(&a, FailureScope::NameOrAccount), None);
        assert_eq!(
            quiet(&b, FailureScope::NameOrAccount),
            Some(hour),
            "two in a row, so it is of all"
        );
        assert_eq!(quiet(&c, FailureScope::NameOrAccount), Some(hour), "and still is");
        assert_eq!(quiet(&c, FailureScope::OrderAccepted), None);
        assert_eq!(quiet(&a, FailureScope::NameOrAccount), None, "others got theirs meanwhile");
        assert_eq!(quiet(&c, FailureScope::ThisName), None);
        assert_eq!(quiet(&a, FailureScope::AllNames), Some(then), "the server requested it");
        let soon = now + Duration::from_mins(5);
        assert_eq!(refusals.pause_until(&b, FailureScope::NameOrAccount, (now, soon)), Some(soon));
    }

    // RFC 9773 §4.2
    #[test]
    fn renewal_falls_in_the_suggested_window() {
        let window = |from, until| Window { from: at(from), until: at(until) };
        let when = |window, chance| renewal_time((at(60), at(90)), window, at(10), chance);
        assert_eq!(when(window(59, 61), 7), at(60), "what was planned is within it");
        assert_eq!(when(window(30, 40), 0), at(30));
        let within = when(window(30, 40), u64::MAX);
        assert!(at(30) <= within && within < at(40), "{within}");
        assert_eq!(when(window(1, 9), 3), at(10), "it was revoked: at once");
        let begun = when(window(5, 12), u64::MAX - 1);
        assert!(at(10) <= begun && begun < at(12), "{begun}");
        assert_eq!(when(window(70, 80), 0), at(70), "later than planned");
        for none in [window(40, 40), window(40, 30), window(90, 95)] {
            assert_eq!(when(none, 5), at(60), "{none:?}");
        }
    }

    #[test]
    fn renewal_info_is_valid_for_one_day() {
        let again = |holds| next_refresh(at(1), holds).since(at(1)).as_secs();
        assert_eq!(again(Some(Duration::from_hours(6))), 6 * 3_600);
        assert_eq!(again(Some(Duration::ZERO)), 60);
        assert_eq!(again(Some(Duration::from_hours(900))), 86_400);
        assert_eq!(again(None), 6 * 3_600);
    }

    #[test]
    fn pause_doubles_up_to_half_a_day() {
        let now = at(1);
        let pause = |attempts, retry_after| {
            next_attempt(attempts, now, retry_after).since(now).as_secs() / 60
        };
        let pauses: Vec<_> = (1..=10).map(|attempts| pause(attempts, None)).collect();
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 720, 720]);
        let first_hour = [0, 5, 15, 35, 75].iter().filter(|minute| **minute < 60).count();
        assert!(first_hour < 5, "Let's Encrypt lets five fail in an hour");
        assert_eq!(pause(1, Some(Duration::from_hours(3))), 180);
        assert_eq!(pause(9, Some(Duration::from_secs(1))), 720);
        assert_eq!(pause(u32::MAX, None), 720);
    }

    #[test]
    fn new_name_is_due_immediately() {
        let mut known = DomainCertificate {
            domain: DomainName::parse("a.example").unwrap(),
            issued: None,
            attempts: 0,
            last_error: None,
            next_attempt_at: None,
        };
        assert_eq!(due(&known), None);
        known.next_attempt_at = Some(at(3));
        assert_eq!(due(&known), Some(at(3)));
        known.issued = Some(IssuedCertificate {
            chain: String::new(),
            key: Secret::new(String::new()),
            issued_at: at(1),
            expires_at: at(1) + 90 * DAY,
            renew_at: at(61),
        });
        assert_eq!(due(&known), Some(at(61)));
        known.next_attempt_at = Some(at(62));
        assert_eq!(due(&known), Some(at(62)));
    }
}
