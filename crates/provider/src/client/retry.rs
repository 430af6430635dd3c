//! Whether a call that failed is made again, and when. Decides only; waiting belongs to `client`.

use std::time::Duration;

use contract::rpc::{self, Code, Error, Reason};
use rules::Timestamp;

/// Pause before the first repetition where the service names none; it doubles with every further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause where the service names none.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Longest pause that the service may ask for; past it the call fails and says so.
pub(super) const RETRY_AFTER_MAX: Duration = Duration::from_mins(5);

/// Whether a call may be made twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Twice is as once: it reads, or sets what it names.
    Safe,
    /// Twice is as once, for it carries an idempotency key, but what it makes stays.
    Creates,
    /// Only where it is certain that nothing was done: the service refused it for too many calls, or it
    /// was never sent.
    WhenRefused,
}

/// What becomes of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// It is made again after this time.
    Again(Duration),
    /// It is over.
    Over,
}

/// How calls are repeated.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// How often a call is repeated at most.
    pub max_retries: u32,
    /// Pause before the first repetition.
    pub first_pause: Duration,
}

impl Policy {
    /// At most this many repetitions.
    pub const fn of(max_retries: u32) -> Self {
        Self { max_retries, first_pause: FIRST_PAUSE }
    }

    /// What becomes of a call whose `attempt` (0 is the first) failed with `error`. `chance` is from
    /// 0 to 1.
    pub fn next(
        &self,
        attempt: u32,
        repeat: Repeat,
        error: &Error,
        now: Timestamp,
        chance: f64,
    ) -> Next {
        let why = why(error);
        let allowed = match (why, repeat) {
            (Why::Refused, _) | (Why::Unclear | Why::Taken, Repeat::Safe | Repeat::Creates) => true,
            (Why::Unclear | Why::Taken, Repeat::WhenRefused) | (Why::Final, _) => false,
        };
        if !allowed || attempt >= self.max_retries {
            return Next::Over;
        }
        match retry_after(error, now) {
            Some(asked) if asked > RETRY_AFTER_MAX => Next::Over,
            Some(asked) => Next::Again(asked),
            None => {
                let pause = self.first_pause.saturating_mul(2_u32.saturating_pow(attempt));
                // Half of it is certain, so that a pause is one; half is chance.
                Next::Again(pause.min(PAUSE_MAX).mul_f64(0.5 + 0.5 * chance))
            }
        }
    }
}

/// What a failure says about its call.
#[derive(Clone, Copy, PartialEq)]
enum Why {
    /// Nothing was done, and later it may be.
    Refused,
    /// It may have been done or not, and another try may tell.
    Unclear,
    /// Something else has what must be unique. Terraform changes at once what does not depend on each
    /// other, so that it may be about to give it up.
    Taken,
    /// Another try would fail alike.
    Final,
}

fn why(error: &Error) -> Why {
    let reason = rpc::reason(error);
    if reason.as_deref() == Some(Reason::RateLimited.as_str()) || rpc::never_sent(error) {
        return Why::Refused;
    }
    if is_taken(error) {
        return Why::Taken;
    }
    // Somebody in between may have passed it on before giving up.
    let unclear = matches!(error.code, Code::Unavailable | Code::DeadlineExceeded | Code::Aborted);
    // An answer that broke off on its way carries no reason; the service's own failures do, and
    // would fail again.
    let broken = matches!(error.code, Code::Internal | Code::DataLoss) && reason.is_none();
    if unclear || broken { Why::Unclear } else { Why::Final }
}

/// Whether a field was refused because something else has its value, which must be unique.
pub(super) fn is_taken(error: &Error) -> bool {
    error.code == Code::AlreadyExists && !rpc::field_violations(error).is_empty()
}

/// Whether a call that failed like this may have been carried out nevertheless: it left, and nobody
/// who knows said that it came to nothing.
pub(super) fn may_be_done(error: &Error) -> bool {
    why(error) == Why::Unclear
}

/// The time that the answer asks to wait: whole seconds, or until a date (RFC 9110 §10.2.3).
pub(super) fn retry_after(error: &Error, now: Timestamp) -> Option<Duration> {
    let asked = error.response_headers().get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(asked).ok()?;
    Some(Timestamp::from_millis(date.as_millisecond()).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy::of(4);
    const NOW: Timestamp = Timestamp::from_millis(784_111_770_000);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn proxied(code: Code, retry_after: Option<&str>) -> Error {
        let mut error = Error::new(code, "HTTP error");
        if let Some(value) = retry_after {
            error.response_headers_mut().insert("retry-after", value.parse().unwrap());
        }
        error
    }

    #[test]
    fn pauses_double_up_to_half_a_minute_and_half_of_each_is_chance() {
        let gone = proxied(Code::Unavailable, None);
        let patient = Policy::of(99);
        for (attempt, chance, pause) in
            [(0, 0.0, 250), (0, 1.0, 500), (1, 1.0, 1_000), (3, 1.0, 4_000), (40, 1.0, 30_000)]
        {
            let next = patient.next(attempt, Repeat::Safe, &gone, NOW, chance);
            assert_eq!(next, Next::Again(Duration::from_millis(pause)), "{attempt} {chance}");
        }
        assert_eq!(POLICY.next(4, Repeat::Safe, &gone, NOW, 0.0), Next::Over);
    }

    #[test]
    fn the_time_the_service_asks_for_is_honoured() {
        let limited = rpc::resource_exhausted("too many calls", seconds(8));
        for repeat in [Repeat::Safe, Repeat::WhenRefused] {
            assert_eq!(POLICY.next(0, repeat, &limited, NOW, 0.0), Next::Again(seconds(8)));
            assert_eq!(POLICY.next(0, repeat, &limited, NOW, 1.0), Next::Again(seconds(8)));
        }
    }

    #[test]
    fn a_date_to_wait_for_is_a_time_from_now() {
        let until = proxied(Code::Unavailable, Some("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(POLICY.next(0, Repeat::Safe, &until, NOW, 0.0), Next::Again(seconds(7)));
        let nonsense = proxied(Code::Unavailable, Some("soon"));
        assert_eq!(retry_after(&nonsense, NOW), None);
    }

    #[test]
    fn who_is_told_to_wait_for_hours_is_not_kept_waiting() {
        let hours = proxied(Code::Unavailable, Some("7200"));
        assert_eq!(POLICY.next(0, Repeat::Safe, &hours, NOW, 0.0), Next::Over);
    }

    #[test]
    fn only_what_may_be_done_twice_is_repeated_when_nobody_knows() {
        for code in [Code::Unavailable, Code::DeadlineExceeded, Code::Aborted, Code::Internal] {
            let error = proxied(code, None);
            assert_ne!(POLICY.next(0, Repeat::Safe, &error, NOW, 0.0), Next::Over, "{code:?}");
            assert_eq!(POLICY.next(0, Repeat::WhenRefused, &error, NOW, 0.0), Next::Over);
        }
    }

    #[test]
    fn what_something_else_has_may_be_given_up_in_the_same_apply() {
        let violations = rules::Violation::new("statusPage.slug", "shop", "is taken").into();
        let taken = rpc::taken(&violations);
        for repeat in [Repeat::Safe, Repeat::Creates] {
            let next = POLICY.next(0, repeat, &taken, NOW, 1.0);
            assert_eq!(next, Next::Again(Duration::from_millis(500)));
            assert_eq!(POLICY.next(4, repeat, &taken, NOW, 1.0), Next::Over);
        }
    }

    #[test]
    fn what_would_fail_again_is_over_at_once() {
        for error in [
            rpc::not_found("monitor", "mon_1"),
            rpc::permission_denied("this key is read-only"),
            rpc::internal(),
            rpc::already_exists("there is one"),
            proxied(Code::Unknown, None),
            proxied(Code::Unimplemented, None),
            proxied(Code::ResourceExhausted, None),
        ] {
            assert_eq!(POLICY.next(0, Repeat::Safe, &error, NOW, 0.0), Next::Over, "{error:?}");
        }
    }
}
