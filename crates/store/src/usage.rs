//! The quantities of a workspace that plans limit. Limits themselves are enforced in `plans`.

use rules::{Periodicity, WorkspaceId, limits};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, query};
use crate::plans::{self, LimitedKind, OperatorPlans};
use crate::row::id;
use crate::{StoreError, Workspaces};

/// The quantities of a workspace that plans limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Monitors, paused ones included.
    pub monitors: u32,
    /// Shortest period of them; `None` without monitors.
    pub shortest_period: Option<Periodicity>,
    /// Status pages.
    pub pages: u32,
    /// Notification channels.
    pub channels: u32,
    /// Time that results are kept, in days.
    pub retention_days: u32,
}

impl Workspaces<'_> {
    /// Returns the usage of a workspace.
    pub async fn usage(&self, workspace: WorkspaceId) -> Result<Usage, StoreError> {
        let default_days = self
            .store
            .operator_plans()
            .map_or(limits::RETENTION_DAYS_DEFAULT, |held| held.default_days);
        let mut db = self.store.read().await?;
        Ok(Usage {
            monitors: count(&mut db, LimitedKind::Monitors, workspace).await?,
            shortest_period: shortest_period(&mut db, workspace).await?,
            pages: count(&mut db, LimitedKind::Pages, workspace).await?,
            channels: count(&mut db, LimitedKind::Channels, workspace).await?,
            retention_days: retention_days(&mut db, self.store.operator_plans(), workspace)
                .await?
                .unwrap_or(default_days),
        })
    }
}

async fn count(
    db: &mut Connection,
    counted: LimitedKind,
    workspace: WorkspaceId,
) -> Result<u32, StoreError> {
    let count: Option<i64> = query(counted.count()).bind(workspace.to_string()).scalar(db).await?;
    Ok(u32::try_from(count.unwrap_or_default()).unwrap_or(u32::MAX))
}

async fn shortest_period(
    db: &mut Connection,
    workspace: WorkspaceId,
) -> Result<Option<Periodicity>, StoreError> {
    let rows = query(
        "SELECT DISTINCT periodicity FROM monitors \
         WHERE workspace_id = $1 AND deleted_at IS NULL AND kind <> 'heartbeat'",
    )
    .bind(workspace.to_string())
    .fetch_all(db)
    .await?;
    // Nobody chooses the period of a heartbeat monitor. A period that cannot be read is that of a damaged monitor, which runs no checks.
    let periods = rows.iter().filter_map(|row| id(row, "periodicity", Periodicity::parse).ok());
    Ok(periods.min_by_key(|period| period.period()))
}

async fn retention_days(
    db: &mut Connection,
    operator_plans: Option<&OperatorPlans>,
    workspace: WorkspaceId,
) -> Result<Option<u32>, StoreError> {
    let days = format!(
        "SELECT {} FROM workspaces w WHERE w.id = $1",
        plans::retention_expression(operator_plans)
    );
    let days: Option<Option<i64>> =
        query(AssertSqlSafe(days)).bind(workspace.to_string()).scalar(db).await?;
    Ok(days.flatten().and_then(|days| u32::try_from(days).ok()))
}
