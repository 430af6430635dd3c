//! Decides whether a failed call is retried, and when. Waiting belongs to `client`.

use std::time::Duration;

use contract::rpc::{self, Code, Error, ProxyFailure, Reason};
use rules::Timestamp;

/// Pause before the first retry if the service asks for none. It doubles with every retry.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause if the service asks for none.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Longest pause that the service may ask for. A call with a longer one fails.
pub(super) const RETRY_AFTER_MAX: Duration = Duration::from_mins(5);

/// Effect of making a call twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetrySafety {
    /// The same as once: it reads, or sets values.
    Safe,
    /// The same as once, because it has an idempotency key; its result stays.
    Creates,
    /// A second effect. Retried only if the first had none: it was rate-limited, or never sent.
    WhenRefused,
}

/// Next step after a failed call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryDecision {
    /// Retry after this time.
    Retry(Duration),
    /// Fail.
    GiveUp,
}

/// How calls are retried.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Most retries of a call.
    pub max_retries: u32,
    /// Pause before the first retry.
    pub first_pause: Duration,
}

impl Policy {
    /// Creates a policy with at most `max_retries` retries.
    pub const fn new(max_retries: u32) -> Self {
        Self { max_retries, first_pause: FIRST_PAUSE }
    }

    /// Returns the next step after `attempt` (0 is the first) failed with `error`. `chance` is from 0 to 1.
    pub fn next(
        &self,
        attempt: u32,
        repeat: RetrySafety,
        error: &Error,
        now: Timestamp,
        chance: f64,
    ) -> RetryDecision {
        let why = classify(error);
        let allowed = match (why, repeat) {
            (FailureClass::Refused, _)
            | (
                FailureClass::Unclear | FailureClass::Taken,
                RetrySafety::Safe | RetrySafety::Creates,
            ) => true,
            (FailureClass::Unclear | FailureClass::Taken, RetrySafety::WhenRefused)
            | (FailureClass::Final, _) => false,
        };
        if !allowed || attempt >= self.max_retries {
            return RetryDecision::GiveUp;
        }
        match retry_after(error, now) {
            Some(asked) if asked > RETRY_AFTER_MAX => RetryDecision::GiveUp,
            // The service may ask for no pause, or until a date in the past.
            Some(asked) => RetryDecision::Retry(asked.max(self.backoff(attempt, chance))),
            None => RetryDecision::Retry(self.backoff(attempt, chance)),
        }
    }

    /// Returns the pause after `attempt` if the service asks for no longer one.
    fn backoff(&self, attempt: u32, chance: f64) -> Duration {
        let pause = self.first_pause.saturating_mul(2_u32.saturating_pow(attempt));
        // At least half of it, so that there is a pause; the rest is random.
        pause.min(PAUSE_MAX).mul_f64(0.5 + 0.5 * chance)
    }
}

/// Meaning of a failure for its call.
#[derive(Clone, Copy, PartialEq)]
enum FailureClass {
    /// It had no effect, and may succeed later.
    Refused,
    /// It may have had its effect; a retry may show.
    Unclear,
    /// Another resource has a value that must be unique. Terraform changes independent resources at the same
    /// time, so that one may be about to give up its value.
    Taken,
    /// A retry would fail too.
    Final,
}

fn classify(error: &Error) -> FailureClass {
    // Wrong credentials stay wrong, and many attempts may lock an account.
    if rpc::proxy_failure(error).is_some_and(ProxyFailure::needs_credentials) {
        return FailureClass::Final;
    }
    let reason = rpc::reason(error);
    let is_limited = reason.as_deref() == Some(Reason::RateLimited.as_str());
    if is_limited || is_rate_limited_by_proxy(error) || rpc::is_unsent(error) {
        return FailureClass::Refused;
    }
    if is_taken(error) {
        return FailureClass::Taken;
    }
    // A proxy may have forwarded it before it gave up.
    let unclear = matches!(error.code, Code::Unavailable | Code::DeadlineExceeded | Code::Aborted);
    // A truncated response has no reason. Failures of the service have one, and would fail again. A proxy
    // that rejects a request would reject it again.
    let broken = matches!(error.code, Code::Internal | Code::DataLoss)
        && reason.is_none()
        && !is_rejected_by_proxy(error);
    if unclear || broken { FailureClass::Unclear } else { FailureClass::Final }
}

/// Returns whether a proxy rejected the call by its rate limit, and so did not forward it.
pub(super) fn is_rate_limited_by_proxy(error: &Error) -> bool {
    let message = error.message.as_deref().unwrap_or_default();
    rpc::reason(error).is_none() && message.starts_with("HTTP error 429")
}

/// Returns whether a proxy rejected the request as malformed, and so did not forward it.
pub(super) fn is_rejected_by_proxy(error: &Error) -> bool {
    let message = error.message.as_deref().unwrap_or_default();
    rpc::reason(error).is_none() && message.starts_with("HTTP error 400")
}

/// Returns whether a field was rejected because another resource has its value, which must be unique.
pub(super) fn is_taken(error: &Error) -> bool {
    error.code == Code::AlreadyExists && !rpc::field_violations(error).is_empty()
}

/// Returns whether a failed call may have had its effect: it was sent, and the service did not say that it
/// failed.
pub(super) fn may_have_taken_effect(error: &Error) -> bool {
    classify(error) == FailureClass::Unclear
}

/// Returns the time that a response asks to wait: whole seconds, or until a date (RFC 9110 §10.2.3).
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

    const POLICY: Policy = Policy::new(4);
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
    fn pause_doubles_up_to_half_a_minute() {
        let gone = proxied(Code::Unavailable, None);
        let patient = Policy::new(99);
        for (attempt, chance, pause) in
            [(0, 0.0, 250), (0, 1.0, 500), (1, 1.0, 1_000), (3, 1.0, 4_000), (40, 1.0, 30_000)]
        {
            let next = patient.next(attempt, RetrySafety::Safe, &gone, NOW, chance);
            assert_eq!(
                next,
                RetryDecision::Retry(Duration::from_millis(pause)),
                "{attempt} {chance}"
            );
        }
        assert_eq!(POLICY.next(4, RetrySafety::Safe, &gone, NOW, 0.0), RetryDecision::GiveUp);
    }

    #[test]
    fn retry_after_is_honoured() {
        let limited = rpc::resource_exhausted("too many calls", seconds(8));
        for repeat in [RetrySafety::Safe, RetrySafety::WhenRefused] {
            assert_eq!(
                POLICY.next(0, repeat, &limited, NOW, 0.0),
                RetryDecision::Retry(seconds(8))
            );
            assert_eq!(
                POLICY.next(0, repeat, &limited, NOW, 1.0),
                RetryDecision::Retry(seconds(8))
            );
        }
    }

    #[test]
    fn retry_after_may_be_a_date() {
        let until = proxied(Code::Unavailable, Some("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(
            POLICY.next(0, RetrySafety::Safe, &until, NOW, 0.0),
            RetryDecision::Retry(seconds(7))
        );
        let nonsense = proxied(Code::Unavailable, Some("soon"));
        assert_eq!(retry_after(&nonsense, NOW), None);
    }

    #[test]
    fn retry_after_that_is_over_keeps_the_backoff() {
        for over in ["0", "Sun, 06 Nov 1994 08:49:30 GMT", "Sat, 05 Nov 1994 08:49:30 GMT"] {
            let restarting = proxied(Code::Unavailable, Some(over));
            for (attempt, pause) in [(0, 500), (1, 1_000), (3, 4_000)] {
                let next = POLICY.next(attempt, RetrySafety::Safe, &restarting, NOW, 1.0);
                assert_eq!(next, RetryDecision::Retry(Duration::from_millis(pause)), "{over}");
            }
        }
    }

    #[test]
    fn retry_after_of_hours_fails_immediately() {
        let hours = proxied(Code::Unavailable, Some("7200"));
        assert_eq!(POLICY.next(0, RetrySafety::Safe, &hours, NOW, 0.0), RetryDecision::GiveUp);
    }

    #[test]
    fn unclear_failure_retries_idempotent_calls_only() {
        for code in [Code::Unavailable, Code::DeadlineExceeded, Code::Aborted, Code::Internal] {
            let error = proxied(code, None);
            assert_ne!(
                POLICY.next(0, RetrySafety::Safe, &error, NOW, 0.0),
                RetryDecision::GiveUp,
                "{code:?}"
            );
            assert_eq!(
                POLICY.next(0, RetrySafety::WhenRefused, &error, NOW, 0.0),
                RetryDecision::GiveUp
            );
        }
    }

    #[test]
    fn taken_value_is_retried() {
        let violations = rules::Violation::new("statusPage.slug", "shop", "is taken").into();
        let taken = rpc::taken(&violations);
        for repeat in [RetrySafety::Safe, RetrySafety::Creates] {
            let next = POLICY.next(0, repeat, &taken, NOW, 1.0);
            assert_eq!(next, RetryDecision::Retry(Duration::from_millis(500)));
            assert_eq!(POLICY.next(4, repeat, &taken, NOW, 1.0), RetryDecision::GiveUp);
        }
    }

    #[test]
    fn permanent_failure_is_not_retried() {
        for error in [
            rpc::not_found("monitor", "mon_1"),
            rpc::permission_denied("this key is read-only"),
            rpc::internal(),
            rpc::already_exists("there is one"),
            proxied(Code::Unknown, None),
            proxied(Code::Unimplemented, None),
            proxied(Code::ResourceExhausted, None),
            Error::new(Code::Internal, "HTTP error 400: Bad Request"),
        ] {
            assert_eq!(
                POLICY.next(0, RetrySafety::Safe, &error, NOW, 0.0),
                RetryDecision::GiveUp,
                "{error:?}"
            );
        }
    }
}
