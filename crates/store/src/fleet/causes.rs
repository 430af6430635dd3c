//! Why monitors are not well: their failing regions by the judge's state, and the reason of the latest
//! unsuccessful check.

use domain::check::Outcome;
use domain::judge::{JudgeState, Vote};
use rules::{MonitorId, MonitorKind, Region, WorkspaceId};

use super::{Fleets, MonitorNumber};
use crate::db::{Connection, Row, query};
use crate::row::id;
use crate::{StoreError, codes, evidence};

/// Cause of a monitor's status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetCause {
    /// Regions whose latest check failed; if none did, those in which it was degraded. Empty for a kind that
    /// probes do not check.
    pub regions: Vec<Region>,
    /// Regions with a result.
    pub of_regions: Vec<Region>,
    /// Reason of the latest unsuccessful check, without credentials.
    pub why: Option<String>,
}

impl Fleets<'_> {
    /// Returns the cause of each of these monitors of the workspace. Costs two queries for each, so
    /// that callers pass only the monitors that they show. Unreadable evidence has no reason.
    pub async fn causes(
        &self,
        workspace: WorkspaceId,
        monitors: &[MonitorNumber],
    ) -> Result<Vec<FleetCause>, StoreError> {
        let mut db = self.store.read().await?;
        let mut causes = Vec::with_capacity(monitors.len());
        for monitor in monitors {
            causes.push(self.cause(&mut db, workspace, *monitor).await?);
        }
        Ok(causes)
    }

    async fn cause(
        &self,
        db: &mut Connection,
        workspace: WorkspaceId,
        monitor: MonitorNumber,
    ) -> Result<FleetCause, StoreError> {
        let row = query(
            "SELECT m.id, m.kind, j.state FROM monitors m JOIN judge_states j ON j.monitor = m.number \
             WHERE m.workspace_id = $1 AND m.number = $2 AND m.deleted_at IS NULL",
        )
        .bind(workspace.to_string())
        .bind(monitor.0)
        .fetch_optional(db)
        .await?;
        let Some(row) = row else { return Ok(FleetCause::default()) };
        let owner = id(&row, "id", MonitorId::parse)?;
        let kind = id(&row, "kind", MonitorKind::parse)?;
        // A state that this program cannot read says nothing about regions.
        let state: Option<JudgeState> = serde_json::from_str(row.try_get("state")?).ok();
        let cause = state.as_ref().map(failing_regions).unwrap_or_default();
        if cause.regions.is_empty() {
            return Ok(cause);
        }
        let why = self.reason(db, owner, monitor, &cause.regions).await?;
        if !kind.is_probed() {
            return Ok(FleetCause { why, ..FleetCause::default() });
        }
        Ok(FleetCause { why, ..cause })
    }

    /// Returns the reason of the latest unsuccessful check in these regions.
    async fn reason(
        &self,
        db: &mut Connection,
        owner: MonitorId,
        monitor: MonitorNumber,
        regions: &[Region],
    ) -> Result<Option<String>, StoreError> {
        let regions: Vec<String> =
            regions.iter().map(|region| codes::region_code(*region).to_string()).collect();
        let statement = format!(
            "SELECT number, slot, region, trigger, revision, outcome, monitor, sealed FROM evidence \
             WHERE monitor = $1 AND outcome <> $2 AND region IN ({}) ORDER BY slot DESC LIMIT 1",
            regions.join(", ")
        );
        let row = query(sqlx::AssertSqlSafe(statement))
            .bind(monitor.0)
            .bind(codes::outcome_code(Outcome::Success))
            .fetch_optional(db)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let read = |row: &Row| evidence::read(self.store.vault(), owner, row);
        let entry = self.store.quarantine().readable_rows("evidence", [&row], read)?.pop();
        let attempt = entry.and_then(|entry| entry.evidence.attempts.last().cloned());
        Ok(attempt.and_then(|attempt| attempt.reasons.into_iter().next()))
    }
}

/// Returns the regions that explain a status, without a reason.
fn failing_regions(state: &JudgeState) -> FleetCause {
    let latest = state.regions.iter().filter_map(|it| Some((it.region, it.latest.as_ref()?.vote)));
    let latest: Vec<(Region, Vote)> = latest.collect();
    let with = |vote: Vote| -> Vec<Region> {
        latest.iter().filter(|(_, given)| *given == vote).map(|(region, _)| *region).collect()
    };
    let failing = with(Vote::Failing);
    let regions = if failing.is_empty() { with(Vote::Slow) } else { failing };
    let of_regions = latest.iter().map(|(region, _)| *region).collect();
    FleetCause { regions, of_regions, why: None }
}
