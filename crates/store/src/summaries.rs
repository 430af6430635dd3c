//! Monthly summaries by email: which members want them, and to whom the one of a month is due. A
//! summary is claimed before it is sent, so that a restart never sends it twice.

use domain::page::Month;
use rules::{Timestamp, UserId, WorkspaceId};

use crate::db::{Row, query};
use crate::row::id;
use crate::users::{self, User};
use crate::workspaces::{self, Workspace};
use crate::{Store, StoreError};

/// Maximum number of summaries that one call returns.
const DUE_MAX: i64 = 100;

/// Handle of the monthly summaries.
#[derive(Clone, Copy, Debug)]
pub struct Summaries<'s> {
    pub(crate) store: &'s Store,
}

/// Summary that a member wants and did not get yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueSummary {
    pub workspace: Workspace,
    pub user: User,
    pub month: Month,
    /// Month of the previous summary.
    pub previous: Month,
}

impl Store {
    /// Returns the handle of the monthly summaries.
    pub const fn summaries(&self) -> Summaries<'_> {
        Summaries { store: self }
    }
}

impl Summaries<'_> {
    /// Returns whether a member wants a summary of each month.
    pub async fn is_wanted(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<bool, StoreError> {
        let row = query(
            "SELECT 1 FROM members WHERE workspace_id = $1 AND user_id = $2 \
             AND summary_month IS NOT NULL",
        )
        .bind(workspace.to_string())
        .bind(user.to_string());
        Ok(row.fetch_optional(&mut self.store.read().await?).await?.is_some())
    }

    /// Subscribes a member to the summaries of the current and later months.
    pub async fn subscribe(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let last = Month::containing(now).previous();
        let set = "UPDATE members SET summary_month = $3 \
                   WHERE workspace_id = $1 AND user_id = $2 AND summary_month IS NULL";
        self.set(set, (workspace, user), Some(last)).await.map(drop)
    }

    /// Ends a member's subscription.
    pub async fn unsubscribe(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<(), StoreError> {
        let set = "UPDATE members SET summary_month = $3 WHERE workspace_id = $1 AND user_id = $2";
        self.set(set, (workspace, user), None).await.map(drop)
    }

    /// Returns summaries of this month that are due, because the month is frozen.
    pub async fn due(&self, month: Month) -> Result<Vec<DueSummary>, StoreError> {
        let rows = query(
            "SELECT w.id, w.slug, w.name, w.plan, w.created_at, w.deletes_at, u.id AS user_id, \
             u.email_sealed, \
             u.name AS user_name, u.created_at AS user_created_at, m.summary_month \
             FROM members m JOIN workspaces w ON w.id = m.workspace_id \
             JOIN users u ON u.id = m.user_id \
             JOIN frozen_months f ON f.workspace_id = m.workspace_id AND f.month = $1 \
             WHERE m.summary_month < $1 AND w.deleted_at IS NULL \
             ORDER BY w.id, u.id LIMIT $2",
        )
        .bind(month.to_string())
        .bind(DUE_MAX)
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let due = |row: &Row, user| {
            Ok(DueSummary {
                workspace: workspaces::read(row)?,
                user,
                month,
                previous: id(row, "summary_month", crate::uptime_reports::parse_month)?,
            })
        };
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let Some(user) = users::readable(self.store, row)? else { continue };
            let workspace: &str = row.try_get("id")?;
            let key = format!("{workspace}/{}", user.id);
            found.extend(self.store.quarantine().readable("members", || key, due(row, user))?);
        }
        Ok(found)
    }

    /// Claims a summary before it is sent. Returns whether it was still due.
    pub async fn claim(&self, due: &DueSummary) -> Result<bool, StoreError> {
        let set = "UPDATE members SET summary_month = $3 \
                   WHERE workspace_id = $1 AND user_id = $2 AND summary_month < $3";
        let member = (due.workspace.id, due.user.id);
        Ok(self.set(set, member, Some(due.month)).await? > 0)
    }

    /// Makes a claimed summary due again, because it could not be sent.
    pub async fn release(&self, due: &DueSummary) -> Result<(), StoreError> {
        let set = "UPDATE members SET summary_month = $3 \
                   WHERE workspace_id = $1 AND user_id = $2 AND summary_month > $3";
        let member = (due.workspace.id, due.user.id);
        self.set(set, member, Some(due.previous)).await.map(drop)
    }

    /// Runs an update of a member and returns the number of changed rows.
    async fn set(
        &self,
        statement: &'static str,
        (workspace, user): (WorkspaceId, UserId),
        month: Option<Month>,
    ) -> Result<u64, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let set = query(statement)
                        .bind(workspace.to_string())
                        .bind(user.to_string())
                        .bind(month.map(|month| month.to_string()));
                    Ok(set.execute(&mut session.db).await?)
                })
            })
            .await
    }
}
