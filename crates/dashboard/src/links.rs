//! Uses of links that need no session. Other sites can open them in a browser of their visitors.

use crate::error::ScreenError;
use crate::origin::Client;
use crate::sign_in_limits::Attempt;
use crate::state::Dashboard;

impl Dashboard {
    /// Counts the use of a link. Refuses parts of other pages, such as images, and does not count them.
    pub(crate) fn try_link(&self, client: &Client) -> Result<Attempt, ScreenError> {
        if client.is_embedded {
            return Err(ScreenError::CrossSite);
        }
        let counted = self.limits.acquire_link(client.address);
        counted.map_err(|retry_after| ScreenError::TooManyAttempts { retry_after })
    }
}
