//! Reads of the database for a counted attempt, which give it back if there is no answer.

use store::StoreError;
use tokio::time::timeout;

use crate::access::DATABASE_WITHIN;
use crate::error::ScreenError;
use crate::sign_in_limits::Attempt;
use crate::state::Dashboard;

impl Dashboard {
    /// Returns what the database answers about a counted attempt. Gives the attempt back if it does not
    /// answer, because nobody is to be locked out by that.
    pub(crate) async fn look_up<T>(
        &self,
        attempt: &Attempt,
        answer: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, ScreenError> {
        let answer = match timeout(DATABASE_WITHIN / 2, answer).await {
            Ok(answer) => answer.map_err(ScreenError::from),
            Err(_) => Err(ScreenError::SlowDatabase),
        };
        answer.inspect_err(|_| self.limits.give_back(attempt))
    }
}
