//! When the next certificate of a name is asked for: at once, when the last one has lived two thirds of
//! its life, or later again after each try that failed. Pure.

use std::time::Duration;

use rules::Timestamp;
use store::DomainCertificate;

/// Pause after the first try that failed; it doubles with each. ACME servers count failures by the hour
/// (Let's Encrypt: five), which this stays below.
const PAUSE_FIRST: Duration = Duration::from_mins(5);
/// The longest pause: a domain that leads elsewhere is asked for twice a day.
const PAUSE_MAX: Duration = Duration::from_hours(12);
/// Tries after which the pause grows no more.
const DOUBLINGS_MAX: u32 = 8;

/// When a certificate of this name is asked for; `None` where none ever was: at once.
pub(super) fn due(known: &DomainCertificate) -> Option<Timestamp> {
    let wanted = known.issued.as_ref().map(|issued| issued.renew_at);
    // Whichever is later: no try before its time, and none without need.
    wanted.max(known.next_try_at)
}

/// When the next try is made after the `tries`th one, which is made now; the server that was asked may
/// want more time.
pub(super) fn next_try(tries: u32, now: Timestamp, wished: Option<Duration>) -> Timestamp {
    let doublings = tries.saturating_sub(1).min(DOUBLINGS_MAX);
    let pause = (PAUSE_FIRST * 2_u32.pow(doublings)).min(PAUSE_MAX);
    now + pause.max(wished.unwrap_or_default())
}

/// When a certificate that came now is renewed: after two thirds of its life, counted from now, because
/// the clock of who made it is another one.
pub(super) fn renewal(now: Timestamp, (from, until): (Timestamp, Timestamp)) -> Timestamp {
    now + until.since(from) * 2 / 3
}

#[cfg(test)]
mod tests {
    use rules::{DomainName, Secret};
    use store::IssuedCertificate;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn at(day: i64) -> Timestamp {
        Timestamp::from_millis(day * 86_400_000)
    }

    #[test]
    fn a_certificate_is_renewed_after_two_thirds_of_its_life_whatever_its_maker_s_clock_says() {
        // issue 7: "stored, renewed certificates"
        assert_eq!(renewal(at(100), (at(100), at(190))), at(160));
        assert_eq!(renewal(at(500), (at(100), at(190))), at(560));
    }

    #[test]
    fn pauses_double_up_to_half_a_day_and_a_server_may_want_more() {
        let now = at(1);
        let pause = |tries, wished| next_try(tries, now, wished).since(now).as_secs() / 60;
        let pauses: Vec<_> = (1..=10).map(|tries| pause(tries, None)).collect();
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 720, 720]);
        let first_hour = [0, 5, 15, 35, 75].iter().filter(|minute| **minute < 60).count();
        assert!(first_hour < 5, "Let's Encrypt lets five fail in an hour");
        assert_eq!(pause(1, Some(Duration::from_hours(3))), 180);
        assert_eq!(pause(9, Some(Duration::from_secs(1))), 720);
        assert_eq!(pause(u32::MAX, None), 720);
    }

    #[test]
    fn what_was_never_asked_for_is_due_at_once_and_what_holds_when_its_time_comes() {
        let mut known = DomainCertificate {
            domain: DomainName::parse("a.example").unwrap(),
            issued: None,
            tries: 0,
            last_error: None,
            next_try_at: None,
        };
        assert_eq!(due(&known), None);
        known.next_try_at = Some(at(3));
        assert_eq!(due(&known), Some(at(3)));
        known.issued = Some(IssuedCertificate {
            chain: String::new(),
            key: Secret::new(String::new()),
            issued_at: at(1),
            expires_at: at(1) + 90 * DAY,
            renew_at: at(61),
        });
        assert_eq!(due(&known), Some(at(61)));
        known.next_try_at = Some(at(62));
        assert_eq!(due(&known), Some(at(62)));
    }
}
