//! Source of time and randomness for the whole server: `ctx.now()`, `ctx.new_id()`. Decisions take
//! `now` as a value; tests use a manual clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rules::{
    ChannelId, ComponentId, GroupId, IncidentId, InvitationId, KeyId, MaintenanceId, MonitorId,
    PageId, PasskeyId, ProbeId, ReportId, SessionId, SigningSecretId, SubscriberId, TemplateId,
    Timestamp, UpdateId, UserId, WorkspaceId,
};
use tokio::sync::watch;
use tokio::time::Instant;

/// The only source of time and randomness. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    clock: Clock,
    random: Chance,
}

#[derive(Clone, Debug)]
enum Clock {
    System,
    Manual(watch::Receiver<Timestamp>),
}

#[derive(Clone, Debug)]
enum Chance {
    System,
    Seeded(Arc<AtomicU64>),
}

/// Clock for tests, which stands still until it is advanced.
#[derive(Debug)]
pub struct ManualClock(watch::Sender<Timestamp>);

impl Context {
    /// Creates a context with the system clock and randomness of the operating system.
    pub const fn system() -> Self {
        Self { clock: Clock::System, random: Chance::System }
    }

    /// Creates a context with a manual clock and reproducible randomness.
    pub fn manual(start: Timestamp) -> (Self, ManualClock) {
        let (sender, receiver) = watch::channel(start);
        let chance = Chance::Seeded(Arc::new(AtomicU64::new(0)));
        (Self { clock: Clock::Manual(receiver), random: chance }, ManualClock(sender))
    }

    /// Returns the current time in whole milliseconds.
    pub fn now(&self) -> Timestamp {
        match &self.clock {
            Clock::System => system_now(),
            Clock::Manual(now) => *now.borrow(),
        }
    }

    /// Returns the time since the first call, by a clock that is never set. A manual clock has only one
    /// time.
    pub fn monotonic(&self) -> Duration {
        static FIRST_CALL: LazyLock<Instant> = LazyLock::new(Instant::now);
        match &self.clock {
            Clock::System => FIRST_CALL.elapsed(),
            Clock::Manual(now) => {
                Duration::from_millis(u64::try_from(now.borrow().as_millis()).unwrap_or(0))
            }
        }
    }

    /// Returns whether the time is the operating system's, and not a test's.
    pub const fn has_system_clock(&self) -> bool {
        matches!(self.clock, Clock::System)
    }

    /// Waits until the clock shows `instant` or later.
    pub async fn sleep_until(&self, instant: Timestamp) {
        match &self.clock {
            Clock::System => tokio::time::sleep(until(instant)).await,
            Clock::Manual(now) => {
                let mut now = now.clone();
                if now.wait_for(|now| *now >= instant).await.is_err() {
                    // The test dropped its clock, so time no longer advances.
                    std::future::pending::<()>().await;
                }
            }
        }
    }

    /// Returns 64 random bits.
    pub fn random(&self) -> u64 {
        match &self.random {
            Chance::System => rand::random(),
            Chance::Seeded(state) => mix(state.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// Returns 32 random bytes, for keys.
    pub fn secret_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.random().to_le_bytes());
        }
        bytes
    }

    /// Creates an ID of any kind.
    pub fn new_id<Id: FreshId>(&self) -> Id {
        Id::fresh(self.now(), self.random())
    }
}

impl ManualClock {
    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.send_modify(|now| *now = *now + by);
    }
}

/// IDs that [`Context::new_id`] creates.
pub trait FreshId {
    /// Creates an ID from the time and random bits.
    fn fresh(now: Timestamp, chance: u64) -> Self;
}

macro_rules! fresh {
    ($($id:ty),+) => {$(
        impl FreshId for $id {
            fn fresh(now: Timestamp, chance: u64) -> Self {
                Self::at(now, chance)
            }
        }
    )+};
}

fresh!(
    WorkspaceId,
    InvitationId,
    ProbeId,
    MonitorId,
    KeyId,
    IncidentId,
    ChannelId,
    PageId,
    SubscriberId,
    ComponentId,
    GroupId,
    MaintenanceId,
    SigningSecretId,
    ReportId,
    UpdateId,
    TemplateId,
    UserId,
    SessionId,
    PasskeyId
);

/// Returns the time until `instant`, with sub-millisecond precision, so that a sleep ends less than
/// a millisecond late.
#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
fn until(instant: Timestamp) -> std::time::Duration {
    let millis = u64::try_from(instant.as_millis()).unwrap_or(0);
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_millis(millis);
    then.duration_since(std::time::SystemTime::now()).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
fn system_now() -> Timestamp {
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("the machine's clock is after 1970");
    Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

/// Spreads a counter over all bits: the finaliser of `SplitMix64`.
const fn mix(counter: u64) -> u64 {
    let mut bits = counter.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn sleep_ends_when_manual_clock_advances() {
        let (ctx, clock) = Context::manual(Timestamp::from_millis(1_000));
        let slept = tokio::spawn({
            let ctx = ctx.clone();
            async move {
                ctx.sleep_until(Timestamp::from_millis(1_500)).await;
                ctx.now()
            }
        });
        clock.advance(Duration::from_millis(500));
        assert_eq!(slept.await.unwrap(), Timestamp::from_millis(1_500));
    }

    #[test]
    fn seeded_random_bytes_differ_each_time() {
        let (ctx, _clock) = Context::manual(Timestamp::from_millis(0));
        assert_ne!(ctx.secret_bytes(), ctx.secret_bytes());
    }
}
