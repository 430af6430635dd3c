//! Limits of attempts to prove an identity: by account, by address and by network. Other sites can open
//! links in a browser, so links have limits of their own and use up no attempts to sign in. A success
//! gives its attempt back, because many colleagues may share an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use rules::UserId;
use sha2::{Digest as _, Sha256};
use web::context::Context;
use web::limits::AttemptLimiter;
use web::peer::rate_limit_address;

use crate::attempts::Attempts;

/// Attempts for one account, from anywhere.
const PER_ACCOUNT: NonZeroU32 = NonZeroU32::new(10).expect("it is not 0");
/// Attempts for one account that succeed or fail. Each costs the hash of a password, so that not even the
/// right password allows an endless loop.
const PER_ACCOUNT_IN_ALL: NonZeroU32 = NonZeroU32::new(120).expect("it is not 0");
/// Attempts from one address.
const PER_ADDRESS: NonZeroU32 = NonZeroU32::new(20).expect("it is not 0");
/// Attempts from one network, an IPv4 /24 or an IPv6 /48.
const PER_NETWORK: NonZeroU32 = NonZeroU32::new(60).expect("it is not 0");
/// Beginnings of sign-ins, such as the way to a provider, from one address. Not every one ends in a
/// sign-in, and each that does is limited there.
const BEGUN_PER_ADDRESS: NonZeroU32 = NonZeroU32::new(100).expect("it is not 0");
/// Beginnings of sign-ins from one network.
const BEGUN_PER_NETWORK: NonZeroU32 = NonZeroU32::new(300).expect("it is not 0");
/// Time in which these attempts become available again.
const WITHIN: Duration = Duration::from_mins(15);

/// Emails with a link for a new password, for one account.
const RESET_EMAILS: NonZeroU32 = NonZeroU32::new(3).expect("it is not 0");
/// Time in which these emails become available again.
const RESET_EMAILS_WITHIN: Duration = Duration::from_hours(1);

/// Emails to addresses that nobody has confirmed, of one account.
const ADDRESS_EMAILS: NonZeroU32 = NonZeroU32::new(5).expect("it is not 0");
/// Emails to such addresses, from all accounts of one network, with invitations. An account can be created
/// by an invitation to an invented address, so limits of accounts alone would bound nothing.
const NETWORK_EMAILS: NonZeroU32 = NonZeroU32::new(60).expect("it is not 0");
/// Time in which these emails become available again.
const ADDRESS_EMAILS_WITHIN: Duration = Duration::from_hours(1);

/// Actions of one signed-in person that are limited without regard to addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OwnAction {
    /// Asks for the options of a new passkey, which the server remembers for a while.
    NewPasskey,
    /// Is recorded in the audit log because the request was refused.
    RecordedRefusal,
}

/// An attempt that was counted, to be given back after a success.
#[derive(Debug)]
#[must_use = "an attempt that succeeds is given back"]
pub(crate) struct Attempt {
    tried: Tried,
    account: Option<[u8; 32]>,
    address: IpAddr,
}

/// Limits of attempts.
#[derive(Debug)]
pub(crate) struct SignInLimits {
    accounts: Attempts<[u8; 32]>,
    accounts_in_all: AttemptLimiter<[u8; 32]>,
    sign_ins: OriginLimits,
    links: OriginLimits,
    answers: OriginLimits,
    begun: OriginLimits,
    device_logins: OriginLimits,
    device_codes: Attempts<UserId>,
    reset_emails: AttemptLimiter<UserId>,
    address_emails: AttemptLimiter<UserId>,
    network_emails: AttemptLimiter<IpAddr>,
    own_actions: AttemptLimiter<(UserId, OwnAction)>,
    recorded_strangers: AttemptLimiter<IpAddr>,
}

/// Kind of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    SignIn,
    /// Use of a link.
    Link,
    /// Answer of the provider of single sign-on.
    Answer,
}

/// Limits by address and by network.
#[derive(Debug)]
struct OriginLimits {
    addresses: Attempts<IpAddr>,
    networks: Attempts<IpAddr>,
}

impl OriginLimits {
    fn new(ctx: &Context, per_address: NonZeroU32, per_network: NonZeroU32) -> Self {
        Self {
            addresses: Attempts::new(ctx, per_address, WITHIN),
            networks: Attempts::new(ctx, per_network, WITHIN),
        }
    }

    fn acquire(&self, address: IpAddr) -> Result<(), Duration> {
        self.networks.acquire(network(address))?;
        let counted = self.addresses.acquire(rate_limit_address(address));
        counted.inspect_err(|_| self.networks.give_back(&network(address)))
    }

    fn give_back(&self, address: IpAddr) {
        self.networks.give_back(&network(address));
        self.addresses.give_back(&rate_limit_address(address));
    }

    fn evict_expired(&self) {
        self.addresses.evict_expired();
        self.networks.evict_expired();
    }
}

impl SignInLimits {
    pub(crate) fn new(ctx: &Context) -> Self {
        Self {
            accounts: Attempts::new(ctx, PER_ACCOUNT, WITHIN),
            accounts_in_all: AttemptLimiter::new(ctx, PER_ACCOUNT_IN_ALL, WITHIN),
            sign_ins: OriginLimits::new(ctx, PER_ADDRESS, PER_NETWORK),
            links: OriginLimits::new(ctx, PER_ADDRESS, PER_NETWORK),
            answers: OriginLimits::new(ctx, PER_ADDRESS, PER_NETWORK),
            begun: OriginLimits::new(ctx, BEGUN_PER_ADDRESS, BEGUN_PER_NETWORK),
            device_logins: OriginLimits::new(ctx, PER_ADDRESS, PER_NETWORK),
            device_codes: Attempts::new(ctx, PER_ACCOUNT, WITHIN),
            reset_emails: AttemptLimiter::new(ctx, RESET_EMAILS, RESET_EMAILS_WITHIN),
            address_emails: AttemptLimiter::new(ctx, ADDRESS_EMAILS, ADDRESS_EMAILS_WITHIN),
            network_emails: AttemptLimiter::new(ctx, NETWORK_EMAILS, ADDRESS_EMAILS_WITHIN),
            own_actions: AttemptLimiter::new(ctx, PER_ADDRESS, WITHIN),
            recorded_strangers: AttemptLimiter::new(ctx, PER_ADDRESS, WITHIN),
        }
    }

    /// Counts an attempt for this account from this address. If it is not allowed, returns the time
    /// until the next one.
    pub(crate) fn acquire(&self, account: &str, address: IpAddr) -> Result<Attempt, Duration> {
        self.sign_ins.acquire(address)?;
        let account: [u8; 32] = Sha256::digest(account.to_lowercase()).into();
        let counted = self.accounts.acquire(account);
        counted.inspect_err(|_| self.sign_ins.give_back(address))?;
        let attempt = Attempt { tried: Tried::SignIn, account: Some(account), address };
        // A refused attempt costs nothing, so that one account does not lock its network.
        let counted = self.accounts_in_all.acquire(&account);
        counted.inspect_err(|_| self.give_back(&attempt))?;
        Ok(attempt)
    }

    /// Counts an attempt to sign in without the name of an account, such as with a passkey.
    pub(crate) fn acquire_anonymous(&self, address: IpAddr) -> Result<Attempt, Duration> {
        self.sign_ins.acquire(address)?;
        Ok(Attempt { tried: Tried::SignIn, account: None, address })
    }

    /// Counts the use of a link.
    pub(crate) fn acquire_link(&self, address: IpAddr) -> Result<Attempt, Duration> {
        self.links.acquire(address)?;
        Ok(Attempt { tried: Tried::Link, account: None, address })
    }

    /// Counts an answer of the provider to a browser that began a sign-in.
    pub(crate) fn acquire_answer(&self, address: IpAddr) -> Result<Attempt, Duration> {
        self.answers.acquire(address)?;
        Ok(Attempt { tried: Tried::Answer, account: None, address })
    }

    /// Counts the beginning of a sign-in, such as the challenge for a passkey.
    pub(crate) fn acquire_beginning(&self, address: IpAddr) -> Result<(), Duration> {
        self.begun.acquire(address)
    }

    /// Counts the beginning of a program's login.
    pub(crate) fn acquire_device_login(&self, address: IpAddr) -> Result<(), Duration> {
        self.device_logins.acquire(address)
    }

    /// Counts a code of a program that a signed-in user enters. Another site can open links with codes, so
    /// this uses up nothing else.
    pub(crate) fn acquire_device_code(&self, user: UserId) -> Result<(), Duration> {
        self.device_codes.acquire(user)
    }

    /// Gives a code back that a program showed.
    pub(crate) fn give_back_device_code(&self, user: UserId) {
        self.device_codes.give_back(&user);
    }

    /// Gives an attempt back that succeeded, or that the server could not decide.
    pub(crate) fn give_back(&self, attempt: &Attempt) {
        match attempt.tried {
            Tried::SignIn => self.sign_ins.give_back(attempt.address),
            Tried::Link => self.links.give_back(attempt.address),
            Tried::Answer => self.answers.give_back(attempt.address),
        }
        if let Some(account) = &attempt.account {
            self.accounts.give_back(account);
        }
    }

    /// Counts an attempt of a second factor of this user from this address.
    pub(crate) fn acquire_code(&self, user: UserId, address: IpAddr) -> Result<Attempt, Duration> {
        self.acquire(&format!("second factor of {user}"), address)
    }

    /// Counts a request for a new password of the account with this address. It does not use up the
    /// attempts to sign in, because anybody may make it.
    pub(crate) fn acquire_reset(&self, email: &str, address: IpAddr) -> Result<(), Duration> {
        self.acquire(&format!("new password of {email}"), address).map(drop)
    }

    /// Counts an attempt of a signed-in user to confirm a change with the password.
    pub(crate) fn acquire_confirmation(
        &self,
        user: UserId,
        address: IpAddr,
    ) -> Result<Attempt, Duration> {
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

    /// Counts an email to an address that nobody has confirmed, and returns the time to wait if it may not
    /// be sent.
    pub(crate) fn acquire_address_email(
        &self,
        user: UserId,
        address: IpAddr,
    ) -> Result<(), Duration> {
        self.network_emails.acquire(&network(address))?;
        self.address_emails.acquire(&user)
    }

    /// Counts the email of an invitation, and returns whether it may be sent. The service limits how many
    /// invitations a person creates.
    pub(crate) fn try_invitation_email(&self, address: IpAddr) -> bool {
        self.network_emails.try_acquire(&network(address))
    }

    /// Counts an email with a link for a new password, and returns whether it may be sent.
    pub(crate) fn try_reset_email(&self, user: UserId) -> bool {
        self.reset_emails.try_acquire(&user)
    }

    pub(crate) fn evict_expired(&self) {
        self.reset_emails.evict_expired();
        self.address_emails.evict_expired();
        self.network_emails.evict_expired();
        self.own_actions.evict_expired();
        self.recorded_strangers.evict_expired();
        self.accounts.evict_expired();
        self.accounts_in_all.evict_expired();
        self.sign_ins.evict_expired();
        self.links.evict_expired();
        self.answers.evict_expired();
        self.begun.evict_expired();
        self.device_logins.evict_expired();
        self.device_codes.evict_expired();
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
    use web::context::FreshId as _;

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
            assert!(limits.acquire("Ada@example.com", elsewhere(third)).is_ok());
        }
        assert!(limits.acquire("ada@example.com", elsewhere(11)).is_err());
        assert!(limits.acquire("bob@example.com", elsewhere(11)).is_ok());
        clock.advance(WITHIN);
        assert!(limits.acquire("ada@example.com", elsewhere(11)).is_ok());
    }

    #[test]
    fn success_uses_up_no_attempt() {
        let (limits, _clock) = limits();
        for _ in 0..100 {
            let attempt = limits.acquire("ada@example.com", address(1)).unwrap();
            limits.give_back(&attempt);
            let attempt = limits.acquire_anonymous(address(1)).unwrap();
            limits.give_back(&attempt);
        }
        let refused = (0..30).filter(|it| limits.acquire(&it.to_string(), address(1)).is_err());
        assert_eq!(refused.count(), 10);
    }

    #[test]
    fn right_password_does_not_allow_an_endless_loop() {
        let (limits, _clock) = limits();
        let attempt = || {
            let attempt = limits.acquire("ada@example.com", address(1))?;
            limits.give_back(&attempt);
            Ok::<_, Duration>(())
        };
        assert_eq!((0..200).filter(|_| attempt().is_ok()).count(), 120);
    }

    #[test]
    fn network_with_many_accounts_sends_few_emails() {
        let (limits, _clock) = limits();
        let sent = (0..200_u64).filter(|it| {
            let user = UserId::fresh(Timestamp::from_millis(0), *it);
            limits.acquire_address_email(user, address(1)).is_ok()
        });
        assert_eq!(sent.count(), 60);
        assert!(!limits.try_invitation_email(address(2)));
        assert!(limits.try_invitation_email(elsewhere(1)));
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
        assert_eq!(attempts(&limits, 3, 20), 20, "what was refused does not count");
        assert_eq!(attempts(&limits, 4, 20), 0, "the network has 60");
    }
}
