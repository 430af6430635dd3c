//! Limits of attempts to prove an identity: by account, by address and by network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use rules::UserId;
use sha2::{Digest as _, Sha256};
use web::context::Context;
use web::limits::AttemptLimiter;
use web::peer::rate_limit_address;

/// Attempts for one account, from anywhere.
const PER_ACCOUNT: NonZeroU32 = NonZeroU32::new(10).expect("it is not 0");
/// Attempts from one address.
const PER_ADDRESS: NonZeroU32 = NonZeroU32::new(20).expect("it is not 0");
/// Attempts from one network, an IPv4 /24 or an IPv6 /48.
const PER_NETWORK: NonZeroU32 = NonZeroU32::new(60).expect("it is not 0");
/// Time in which these attempts become available again.
const WITHIN: Duration = Duration::from_mins(15);

/// Emails with a link for a new password, for one account.
const RESET_EMAILS: NonZeroU32 = NonZeroU32::new(3).expect("it is not 0");
/// Time in which these emails become available again.
const RESET_EMAILS_WITHIN: Duration = Duration::from_hours(1);

/// Actions of one signed-in person that are limited without regard to addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OwnAction {
    /// Asks for the options of a new passkey, which the server remembers for a while.
    NewPasskey,
    /// Is recorded in the audit log because the request was refused.
    RecordedRefusal,
}

/// Limits of attempts.
#[derive(Debug)]
pub(crate) struct SignInLimits {
    accounts: AttemptLimiter<[u8; 32]>,
    addresses: AttemptLimiter<IpAddr>,
    networks: AttemptLimiter<IpAddr>,
    reset_emails: AttemptLimiter<UserId>,
    own_actions: AttemptLimiter<(UserId, OwnAction)>,
    recorded_strangers: AttemptLimiter<IpAddr>,
}

impl SignInLimits {
    pub(crate) fn new(ctx: &Context) -> Self {
        Self {
            accounts: AttemptLimiter::new(ctx, PER_ACCOUNT, WITHIN),
            addresses: AttemptLimiter::new(ctx, PER_ADDRESS, WITHIN),
            networks: AttemptLimiter::new(ctx, PER_NETWORK, WITHIN),
            reset_emails: AttemptLimiter::new(ctx, RESET_EMAILS, RESET_EMAILS_WITHIN),
            own_actions: AttemptLimiter::new(ctx, PER_ADDRESS, WITHIN),
            recorded_strangers: AttemptLimiter::new(ctx, PER_ADDRESS, WITHIN),
        }
    }

    /// Counts an attempt for this account from this address. If it is not allowed, returns the time
    /// until the next one.
    pub(crate) fn acquire(&self, account: &str, address: IpAddr) -> Result<(), Duration> {
        self.networks.acquire(&network(address))?;
        self.addresses.acquire(&rate_limit_address(address))?;
        self.accounts.acquire(&Sha256::digest(account.to_lowercase()).into())
    }

    /// Counts an attempt without an account, such as the use of a link.
    pub(crate) fn acquire_anonymous(&self, address: IpAddr) -> Result<(), Duration> {
        self.networks.acquire(&network(address))?;
        self.addresses.acquire(&rate_limit_address(address))
    }

    /// Counts an attempt of a second factor of this user from this address.
    pub(crate) fn acquire_code(&self, user: UserId, address: IpAddr) -> Result<(), Duration> {
        self.acquire(&format!("second factor of {user}"), address)
    }

    /// Counts a request for a new password of the account with this address. It does not use up the
    /// attempts to sign in, because anybody may make it.
    pub(crate) fn acquire_reset(&self, email: &str, address: IpAddr) -> Result<(), Duration> {
        self.acquire(&format!("new password of {email}"), address)
    }

    /// Counts an attempt of a signed-in user to confirm a change with the password.
    pub(crate) fn acquire_confirmation(
        &self,
        user: UserId,
        address: IpAddr,
    ) -> Result<(), Duration> {
        self.acquire(&format!("confirmation of {user}"), address)
    }

    /// Counts an action of a signed-in person, and returns the time to wait if it is not allowed.
    pub(crate) fn acquire_own(&self, user: UserId, action: OwnAction) -> Result<(), Duration> {
        self.own_actions.acquire(&(user, action))
    }

    /// Counts a refused request of a stranger's network, and returns whether the audit log records it.
    /// It does not use up attempts to sign in, because another site may cause it.
    pub(crate) fn try_record_stranger(&self, address: IpAddr) -> bool {
        self.recorded_strangers.try_acquire(&network(address))
    }

    /// Counts an email with a link for a new password, and returns whether it may be sent.
    pub(crate) fn try_reset_email(&self, user: UserId) -> bool {
        self.reset_emails.try_acquire(&user)
    }

    pub(crate) fn evict_expired(&self) {
        self.reset_emails.evict_expired();
        self.own_actions.evict_expired();
        self.recorded_strangers.evict_expired();
        self.accounts.evict_expired();
        self.addresses.evict_expired();
        self.networks.evict_expired();
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & (u32::MAX << 8))),
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 80)))
        }
    }
}

#[cfg(test)]
mod tests {
    use rules::Timestamp;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    fn elsewhere(third: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(198, 51, third, 1))
    }

    fn limits() -> (SignInLimits, web::context::ManualClock) {
        let (ctx, clock) = Context::manual(Timestamp::from_millis(0));
        (SignInLimits::new(&ctx), clock)
    }

    #[test]
    fn account_is_limited_over_all_addresses() {
        let (limits, clock) = limits();
        for third in 0..10 {
            assert_eq!(limits.acquire("Ada@example.com", elsewhere(third)), Ok(()));
        }
        assert!(limits.acquire("ada@example.com", elsewhere(11)).is_err());
        assert_eq!(limits.acquire("bob@example.com", elsewhere(11)), Ok(()));
        clock.advance(WITHIN);
        assert_eq!(limits.acquire("ada@example.com", elsewhere(11)), Ok(()));
    }

    #[test]
    fn address_and_network_are_limited() {
        let (limits, _clock) = limits();
        let attempts = |limits: &SignInLimits, last, count| {
            (0..count)
                .filter(|it| limits.acquire(&format!("{last}-{it}"), address(last)).is_ok())
                .count()
        };
        assert_eq!(attempts(&limits, 1, 30), 20);
        assert_eq!(attempts(&limits, 2, 20), 20);
        assert_eq!(attempts(&limits, 3, 20), 10, "the network has 60");
    }
}
