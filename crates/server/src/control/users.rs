//! Users for an operator: a list of all, and a new password for one who cannot sign in. The password
//! is random and shown once; the user replaces it in the dashboard.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::Secret;

use super::service::control_error;
use super::{ControlError, ControlService, NewPassword, UserRow};

impl ControlService {
    /// Returns all users with their roles, newest first.
    pub async fn list_users(&self) -> Result<Vec<UserRow>, ControlError> {
        let users = self.store.users();
        let mut rows = Vec::new();
        for user in users.list().await.map_err(control_error)? {
            let memberships = users.memberships(user.id).await.map_err(control_error)?;
            let roles = memberships.into_iter().map(|it| (it.workspace.slug, it.role)).collect();
            rows.push(UserRow {
                id: user.id,
                email: user.email,
                name: user.name,
                created_at: user.created_at,
                roles,
            });
        }
        Ok(rows)
    }

    /// Gives the user with this address a new password, ends all sessions of the user, and removes the
    /// passkeys unless they are kept: a stranger may have added one. Returns the only copy of the
    /// password.
    pub async fn reset_user(
        &self,
        email: &str,
        keeps_passkeys: bool,
    ) -> Result<NewPassword, ControlError> {
        let users = self.store.users();
        let found = users.find_for_sign_in(email).await.map_err(control_error)?;
        let Some((user, _)) = found else {
            let why = format!("no user has the address `{email}`; see `aloft users list`");
            return Err(ControlError::Refused(why));
        };
        let ctx = self.ctx();
        let password = Secret::new(URL_SAFE_NO_PAD.encode(&ctx.secret_bytes()[..PASSWORD_BYTES]));
        let hash = dashboard::hash_password(&password, &ctx.secret_bytes());
        let reset = users.reset(user.id, hash, keeps_passkeys, self.change()).await;
        let removed_passkeys = reset.map_err(control_error)?;
        Ok(NewPassword { id: user.id, email: user.email, password, removed_passkeys })
    }
}

/// Random bytes of a password: 24 characters.
const PASSWORD_BYTES: usize = 18;
