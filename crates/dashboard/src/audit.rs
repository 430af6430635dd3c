//! Records what people do with their accounts, and refused requests, in the audit logs of their
//! workspaces.

use std::net::IpAddr;

use rules::UserId;
use store::{Actor, AuditContext};

use crate::session::SignedIn;
use crate::sign_in_limits::OwnAction;
use crate::state::Dashboard;

impl Dashboard {
    /// Returns the author, the time and the origin of a change that a user makes now.
    pub(crate) fn change_by(&self, user: UserId, address: IpAddr) -> AuditContext {
        AuditContext::new(Actor::User(user), self.ctx.now()).from_address(Some(address))
    }

    /// Records a refused request, unless there were many of this person. Other sites can make a
    /// browser send such requests.
    pub(crate) async fn audit_refusal(
        &self,
        signed_in: &SignedIn,
        action: &'static str,
        why: &str,
    ) {
        let (user, address) = (signed_in.user.id, signed_in.address);
        if self.limits.acquire_own(user, OwnAction::RecordedRefusal).is_ok() {
            self.audit((user, address), action, why.to_owned()).await;
        }
    }

    /// Records an action of a user. A failure is only logged, because the action is over.
    pub(crate) async fn audit(
        &self,
        (user, address): (UserId, IpAddr),
        action: &'static str,
        detail: String,
    ) {
        let change = self.change_by(user, address);
        let recorded = self.store.users().record(user, action, detail, change).await;
        if let Err(error) = recorded {
            tracing::error!(%error, "failed to record `{action}`: {error}");
        }
    }

    /// Records the refused request of an unknown person, in the log and in the audit log of the oldest
    /// workspace. The limits of attempts bound the number of entries.
    pub(crate) async fn audit_stranger(&self, action: &'static str, why: &str, address: IpAddr) {
        tracing::warn!(client.address = %address, "refused `{action}` from {address}: {why}");
        let change = AuditContext::new(Actor::Server, self.ctx.now()).from_address(Some(address));
        let stored = self.store.users();
        let recorded = stored.record_of_stranger(action, why.to_owned(), change).await;
        if let Err(error) = recorded {
            tracing::error!(%error, "failed to record `{action}`: {error}");
        }
    }
}
