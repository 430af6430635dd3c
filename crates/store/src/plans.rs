//! Enforces the limits of plans in the transaction that creates an object, so that two concurrent
//! callers cannot exceed a limit.

use std::sync::Arc;

use rules::plan::{Plan, Plans};
use rules::{Periodicity, Violation, WorkspaceId, limits};

use crate::StoreError;
use crate::db::{Connection, query};

/// Plans that the operator set.
#[derive(Debug)]
pub(crate) struct OperatorPlans {
    pub(crate) plans: Arc<Plans>,
    /// Retention of a workspace that set none, in days.
    pub(crate) default_days: u32,
}

/// Returns the SQL expression for the days that a workspace `w` keeps its results: the days that it set, at
/// most those of its plan; NULL if the server's setting decides. It is never stored: a workspace has what it
/// set again when its plan no longer caps it.
pub(crate) fn retention_expression(held: Option<&OperatorPlans>) -> String {
    // A damaged number must not delete a history: the server's setting decides.
    let own = format!(
        "CASE WHEN w.retention_days BETWEEN {} AND {} THEN w.retention_days END",
        limits::RETENTION_DAYS_MIN,
        limits::RETENTION_DAYS_MAX
    );
    let of_plan = |(name, plan): (&str, Plan)| {
        let most = plan.retention_days?;
        let default = held.map_or(most, |held| held.default_days);
        // A name has only lower-case letters, digits and `-`.
        Some(format!(
            " WHEN '{name}' THEN CASE WHEN COALESCE(({own}), {default}) < {most} \
             THEN ({own}) ELSE {most} END"
        ))
    };
    let cases: String =
        held.into_iter().flat_map(|held| held.plans.iter()).filter_map(of_plan).collect();
    if cases.is_empty() {
        return own;
    }
    format!("CASE w.plan{cases} ELSE ({own}) END")
}

/// Kind of object that a plan limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedKind {
    Monitors,
    Pages,
    Channels,
}

impl LimitedKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Monitors => "monitor",
            Self::Pages => "status page",
            Self::Channels => "notification channel",
        }
    }

    const fn limit(self, plan: &Plan) -> Option<u32> {
        match self {
            Self::Monitors => plan.monitors,
            Self::Pages => plan.pages,
            Self::Channels => plan.channels,
        }
    }

    /// Returns the query that counts them in a workspace.
    pub(crate) const fn count(self) -> &'static str {
        match self {
            Self::Monitors => {
                "SELECT COUNT(*) FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL"
            }
            Self::Pages => "SELECT COUNT(*) FROM pages WHERE workspace_id = $1",
            Self::Channels => "SELECT COUNT(*) FROM channels WHERE workspace_id = $1",
        }
    }
}

/// Rejects another object of a kind if the workspace has as many as its plan allows.
pub(crate) async fn check_limit(
    db: &mut Connection,
    plans: &Plans,
    workspace: WorkspaceId,
    counted: LimitedKind,
) -> Result<(), StoreError> {
    let Some((name, plan)) = find_plan(db, plans, workspace).await? else { return Ok(()) };
    let Some(most) = counted.limit(&plan) else { return Ok(()) };
    let count: Option<i64> = query(counted.count()).bind(workspace.to_string()).scalar(db).await?;
    if count.unwrap_or_default() < i64::from(most) {
        return Ok(());
    }
    Err(StoreError::PlanLimit { plan: name, most, what: counted.name() })
}

/// Rejects a period shorter than the plan of the workspace allows.
pub(crate) async fn check_period(
    db: &mut Connection,
    plans: &Plans,
    workspace: WorkspaceId,
    period: Periodicity,
) -> Result<(), StoreError> {
    let Some((name, plan)) = find_plan(db, plans, workspace).await? else { return Ok(()) };
    match plan.shortest_period {
        Some(shortest) if period.period() < shortest.period() => {
            let allowed = format!("must be {shortest} or longer on the plan `{name}`");
            Err(StoreError::Refused(Violation::new("periodicity", period.to_string(), allowed)))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the name and the plan of a workspace, or `None` if no plans are set.
async fn find_plan(
    db: &mut Connection,
    plans: &Plans,
    workspace: WorkspaceId,
) -> Result<Option<(String, Plan)>, StoreError> {
    if plans.is_empty() {
        return Ok(None);
    }
    let name: Option<String> = query("SELECT plan FROM workspaces WHERE id = $1")
        .bind(workspace.to_string())
        .scalar(db)
        .await?;
    Ok(name.map(|name| {
        let plan = plans.get(&name);
        (name, plan)
    }))
}
