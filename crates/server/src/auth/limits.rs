//! Rate limits: calls per key, failed calls per address, and attempts of unauthenticated visitors
//! at status pages (design §6). Rejections of calls include the time to retry.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use contract::rpc;
use governor::Quota;
use governor::clock::Clock;
use http::{HeaderMap, HeaderName, HeaderValue};
use rules::{KeyId, counted};
use web::context::Context;
use web::limits::{Buckets, buckets};
use web::peer::rate_limit_address;

use crate::config::Settings;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Rate limits of one server, with their current state.
#[derive(Debug)]
pub(crate) struct Limits {
    rate: NonZeroU32,
    burst: NonZeroU32,
    calls: Buckets<KeyId>,
    failures: Buckets<IpAddr>,
    /// Blocked addresses with the end of each block, on the clock of the limits.
    blocked: Mutex<HashMap<IpAddr, Duration>>,
}

/// Rate limit status of a key after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateLimitStatus {
    limit: u32,
    remaining: u32,
    reset_seconds: u32,
}

impl Limits {
    pub(super) fn new(ctx: &Context, settings: &Settings) -> Self {
        let rate = settings.calls_per_second;
        let burst = settings.calls_burst;
        let calls = Quota::per_second(rate).allow_burst(burst);
        Self {
            calls: buckets(calls, ctx),
            failures: buckets(Quota::per_minute(settings.failed_calls_per_minute), ctx),
            blocked: Mutex::default(),
            rate,
            burst,
        }
    }

    /// Counts a call with this key.
    pub(super) fn count_call(&self, key: KeyId) -> Result<RateLimitStatus, rpc::Error> {
        let standing = |remaining: u32| {
            let missing = self.burst.get().saturating_sub(remaining);
            let reset_seconds = missing.div_ceil(self.rate.get());
            RateLimitStatus { limit: self.burst.get(), remaining, reset_seconds }
        };
        match self.calls.check_key(&key) {
            Ok(state) => Ok(standing(state.remaining_burst_capacity())),
            Err(not_until) => {
                let wait = not_until.wait_time_from(self.now());
                let message = format!(
                    "this key made more than {} a second; wait and retry",
                    counted(self.rate.get(), "call")
                );
                let mut error = rpc::resource_exhausted(message, wait);
                standing(0).add_headers(error.response_headers_mut());
                Err(error)
            }
        }
    }

    /// Counts a call from this address whose key was rejected.
    pub(super) fn count_failure(&self, address: IpAddr) -> Result<(), rpc::Error> {
        let network = rate_limit_address(address);
        let Err(not_until) = self.failures.check_key(&network) else { return Ok(()) };
        let wait = not_until.wait_time_from(self.now());
        self.blocked().insert(network, self.now() + wait);
        Err(too_many_failures(wait))
    }

    /// Checks whether an uncached key may be looked up for this address.
    pub(super) fn may_look_up(&self, address: IpAddr) -> Result<(), rpc::Error> {
        let now = self.now();
        let until = self.blocked().get(&rate_limit_address(address)).copied();
        match until.map(|until| until.saturating_sub(now)) {
            Some(wait) if !wait.is_zero() => Err(too_many_failures(wait)),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn evict_expired(&self) {
        self.calls.retain_recent();
        self.failures.retain_recent();
        let now = self.now();
        self.blocked().retain(|_, until| *until > now);
    }

    /// Returns the time on the clock of the limits.
    fn now(&self) -> Duration {
        self.calls.clock().now()
    }

    fn blocked(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, Duration>> {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RateLimitStatus {
    /// Adds the rate limit headers to a response.
    pub(crate) fn add_headers(self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(self.remaining));
        headers.insert(RESET, HeaderValue::from(self.reset_seconds));
    }
}

fn too_many_failures(wait: Duration) -> rpc::Error {
    rpc::resource_exhausted("too many calls with an unknown key from this address", wait)
}

#[cfg(test)]
mod tests {
    use rules::Timestamp;

    use super::*;

    const KEY: KeyId = KeyId::from_bits(1);

    fn limits(rate: u32, burst: u32, failures: u32) -> (Limits, web::context::ManualClock) {
        let (ctx, clock) = Context::manual(Timestamp::from_millis(1_800_000_000_000));
        let number = |it| NonZeroU32::new(it).unwrap();
        let settings = Settings {
            calls_per_second: number(rate),
            calls_burst: number(burst),
            failed_calls_per_minute: number(failures),
            ..Settings::defaults()
        };
        (Limits::new(&ctx, &settings), clock)
    }

    #[test]
    fn call_after_burst_gets_retry_time() {
        // design: §6
        let (limits, clock) = limits(10, 3, 1);
        let remaining: Vec<u32> =
            (0..3).map(|_| limits.count_call(KEY).unwrap().remaining).collect();
        assert_eq!(remaining, [2, 1, 0]);
        let error = limits.count_call(KEY).unwrap_err();
        assert_eq!(error.http_status(), 429);
        assert_eq!(error.response_headers()["retry-after"], "1");
        assert_eq!(error.response_headers()["ratelimit-remaining"], "0");
        assert!(limits.count_call(KeyId::from_bits(2)).is_ok(), "another key is not concerned");
        clock.advance(Duration::from_millis(100));
        assert!(limits.count_call(KEY).is_ok());
        assert!(limits.count_call(KEY).is_err());
    }

    #[test]
    fn failed_address_is_blocked_until_its_time_ends() {
        let (limits, clock) = limits(10, 10, 2);
        let bad: IpAddr = "2001:db8::1".parse().unwrap();
        let neighbour: IpAddr = "2001:db8::2".parse().unwrap();
        let other: IpAddr = "192.0.2.1".parse().unwrap();
        assert!(limits.count_failure(bad).is_ok() && limits.count_failure(neighbour).is_ok());
        assert!(limits.may_look_up(bad).is_ok());
        assert_eq!(limits.count_failure(bad).unwrap_err().http_status(), 429);
        assert!(limits.may_look_up(neighbour).is_err(), "one /64 is one address");
        assert!(limits.may_look_up(other).is_ok());
        clock.advance(Duration::from_secs(30));
        assert!(limits.may_look_up(bad).is_ok());
    }
}
