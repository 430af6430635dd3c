//! When the next certificate of a name is asked for: at once, when its maker would have it renewed or,
//! where that does not say, when it has lived two thirds of its life, and later again after each try that
//! failed; and what a failure means for other names. Pure.

use std::time::Duration;

use rules::{DomainName, Timestamp};
use store::DomainCertificate;

/// Pause after the first try that failed; it doubles with each. ACME servers count failures by the hour
/// (Let's Encrypt: five), which this stays below.
const PAUSE_FIRST: Duration = Duration::from_mins(5);
/// The longest pause: a domain that leads elsewhere is asked for twice a day.
const PAUSE_MAX: Duration = Duration::from_hours(12);
/// Tries after which the pause grows no more.
const DOUBLINGS_MAX: u32 = 8;

/// Nobody is asked for longer than this where it is only thought that the server wants that.
const QUIET_MAX: Duration = Duration::from_hours(1);
/// How long what a maker suggests is believed, at least and at most (RFC 9773 §4.3.2).
const SUGGESTED_FOR: (Duration, Duration) = (Duration::from_mins(1), Duration::from_hours(24));
/// Pause before a maker is asked again that did not say.
const ASK_AGAIN_AFTER: Duration = Duration::from_hours(6);

/// What a failure says of the certificates of other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// Nothing.
    Nothing,
    /// That orders are taken.
    OrdersAreTaken,
    /// That the order was one too many: of this name, or of all.
    TooMany,
    /// That the server wants to be asked nothing.
    TooBusy,
}

/// What refusals in a row say together: a limit that meets one name after the other is one of all.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// The name that was refused last, with no order taken since.
    last: Option<DomainName>,
}

/// When a certificate should be renewed by whoever made it (RFC 9773 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

impl Refusals {
    /// Until when no name at all is asked for, after a failure of this one, which itself is asked for
    /// again `then`.
    pub(super) fn quiet_until(
        &mut self,
        domain: &DomainName,
        says: Says,
        (now, then): (Timestamp, Timestamp),
    ) -> Option<Timestamp> {
        match says {
            Says::Nothing => None,
            Says::OrdersAreTaken => {
                self.orders_are_taken();
                None
            }
            Says::TooMany => {
                let is_in_a_row = self.last.as_ref().is_some_and(|last| last != domain);
                self.last = Some(domain.clone());
                is_in_a_row.then(|| then.min(now + QUIET_MAX))
            }
            Says::TooBusy => Some(then),
        }
    }

    /// An order was taken.
    pub(super) fn orders_are_taken(&mut self) {
        self.last = None;
    }
}

/// When a certificate is renewed that was to be `planned`, where its maker suggests this window: then,
/// where that is within it; else at a moment of it that chance decides, and at once where it is over. A
/// window that is none, or begins when the certificate has ended, is not believed.
pub(super) fn suggested(
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

/// When a maker is asked again for what it suggests: when it says so, within a day; later where it does
/// not.
pub(super) fn ask_again(now: Timestamp, holds: Option<Duration>) -> Timestamp {
    let (least, most) = SUGGESTED_FOR;
    now + holds.map_or(ASK_AGAIN_AFTER, |holds| holds.clamp(least, most))
}

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
    use rules::Secret;
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

    // issue 7: one name that may have no more certificates keeps no other from its own
    #[test]
    fn a_limit_is_of_its_name_until_the_next_name_meets_it_too() {
        let name = |text: &str| DomainName::parse(text).unwrap();
        let (a, b, c) = (name("a.example"), name("b.example"), name("c.example"));
        let (now, then) = (at(1), at(2));
        let hour = now + Duration::from_hours(1);
        let mut refusals = Refusals::default();
        let mut quiet = |domain, says| refusals.quiet_until(domain, says, (now, then));
        assert_eq!(quiet(&a, Says::TooMany), None, "it may be of this name");
        assert_eq!(quiet(&a, Says::TooMany), None);
        assert_eq!(quiet(&b, Says::TooMany), Some(hour), "two in a row, so it is of all");
        assert_eq!(quiet(&c, Says::TooMany), Some(hour), "and still is");
        assert_eq!(quiet(&c, Says::OrdersAreTaken), None);
        assert_eq!(quiet(&a, Says::TooMany), None, "others got theirs meanwhile");
        assert_eq!(quiet(&c, Says::Nothing), None);
        assert_eq!(quiet(&a, Says::TooBusy), Some(then), "the server said so itself");
        let soon = now + Duration::from_mins(5);
        assert_eq!(refusals.quiet_until(&b, Says::TooMany, (now, soon)), Some(soon));
    }

    // RFC 9773 §4.2
    #[test]
    fn a_certificate_is_renewed_within_the_window_that_its_maker_suggests() {
        let window = |from, until| Window { from: at(from), until: at(until) };
        let when = |window, chance| suggested((at(60), at(90)), window, at(10), chance);
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
    fn what_is_suggested_is_believed_for_a_day_at_most() {
        let again = |holds| ask_again(at(1), holds).since(at(1)).as_secs();
        assert_eq!(again(Some(Duration::from_hours(6))), 6 * 3_600);
        assert_eq!(again(Some(Duration::ZERO)), 60);
        assert_eq!(again(Some(Duration::from_hours(900))), 86_400);
        assert_eq!(again(None), 6 * 3_600);
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
