//! Limits of subscribing: how often one network may ask, and how many emails one mailbox may get.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use rules::{PageId, limits};
use sha2::{Digest as _, Sha256};
use web::context::Context;
use web::limits::AttemptLimiter;

/// Period in which requests of one network and for one mailbox are counted.
const COUNTED_IN: Duration = Duration::from_hours(1);

/// Limits of subscribing.
#[derive(Debug)]
pub(crate) struct SubscribeLimits {
    pub(super) networks: AttemptLimiter<IpAddr>,
    mailboxes: AttemptLimiter<[u8; 32]>,
}

impl SubscribeLimits {
    /// Creates the limits with nothing counted.
    pub(crate) fn new(ctx: &Context) -> Self {
        let times = |count| NonZeroU32::new(count).expect("the limits are not nothing");
        Self {
            networks: AttemptLimiter::new(
                ctx,
                times(limits::SUBSCRIBE_PER_NETWORK_AND_HOUR),
                COUNTED_IN,
            ),
            mailboxes: AttemptLimiter::new(
                ctx,
                times(limits::SUBSCRIBE_PER_MAILBOX_AND_HOUR),
                COUNTED_IN,
            ),
        }
    }

    /// Returns whether an email may be sent to this address for this page. The address is not
    /// stored.
    pub(super) fn can_email(&self, page: PageId, address: &str) -> bool {
        let mailbox = Sha256::new()
            .chain_update(page.bits().to_be_bytes())
            .chain_update(address.to_lowercase());
        self.mailboxes.try_acquire(&mailbox.finalize().into())
    }

    /// Removes expired limits.
    pub(crate) fn evict_expired(&self) {
        self.networks.evict_expired();
        self.mailboxes.evict_expired();
    }
}
