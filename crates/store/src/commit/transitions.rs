//! Stores the transitions of a batch: each status change with its effect on an incident and its alerts.

use std::collections::BTreeSet;

use domain::judge::{IncidentChange, Transition};
use rules::{MonitorId, MonitorStatus};
use sqlx::error::DatabaseError;

use super::Batch;
use crate::db::{self, Connection, query};
use crate::quarantine::is_unreadable;
use crate::writer::Session;
use crate::{StoreError, incidents, judge_states, outbox};

/// Treatment of a transition that needs a damaged row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DamageHandling {
    /// The batch fails, as nearly no batch does.
    Fail,
    /// The transition is left out and recorded. Costs a savepoint for each transition.
    LeaveOut,
}

/// Returns whether the same work would fail again, because a row that it needs is damaged.
pub(super) fn is_damage(error: &StoreError) -> bool {
    let StoreError::Database(cause) = error else { return is_unreadable(error) };
    let is_lost_key = matches!(cause, sqlx::Error::RowNotFound)
        || cause.as_database_error().is_some_and(DatabaseError::is_foreign_key_violation);
    is_lost_key || is_unreadable(error)
}

/// Stores the transitions in order. Returns the monitors of those that were left out.
pub(super) async fn apply(
    session: &mut Session,
    batch: &Batch,
    handling: DamageHandling,
) -> Result<BTreeSet<MonitorId>, StoreError> {
    let mut left_out = BTreeSet::new();
    for (index, (monitor, transition)) in batch.transitions.iter().enumerate() {
        let Some(number) = session.row_ids.monitor(&mut session.db, *monitor).await? else {
            continue;
        };
        match handling {
            DamageHandling::Fail => apply_one(session, batch, (index, number)).await?,
            DamageHandling::LeaveOut => {
                db::run(&mut session.db, "SAVEPOINT transition").await?;
                match apply_one(session, batch, (index, number)).await {
                    Err(why) if is_damage(&why) => {
                        db::run(&mut session.db, "ROLLBACK TO transition").await?;
                        tracing::error!(
                            monitor.id = %monitor,
                            "failed to store that `{monitor}` became `{}`, because a row is damaged; \
                             run `aloft doctor`: {why}",
                            transition.to.as_str()
                        );
                        let why = format!("a change of its status was not stored: {why}");
                        session.quarantine.record("monitors", monitor.to_string(), &why);
                        left_out.insert(*monitor);
                    }
                    applied => applied?,
                }
                db::run(&mut session.db, "RELEASE transition").await?;
            }
        }
    }
    Ok(left_out)
}

/// Stores the transition at this index, which is of the monitor with this row ID.
async fn apply_one(
    session: &mut Session,
    batch: &Batch,
    (index, number): (usize, i64),
) -> Result<(), StoreError> {
    let (monitor, transition) = &batch.transitions[index];
    let (owner, paused) = judge_states::owner(&mut session.db, number).await?;
    session.declare_status_change(owner);
    if is_past(batch, *monitor, paused) && transition.to != MonitorStatus::Unknown {
        return Ok(());
    }
    let is_new = judge_states::record_change(session, number, transition).await?
        || has_effect_on_incident(&mut session.db, transition).await?;
    change_incident(session, number, transition).await?;
    // If it is not new, an earlier attempt of the batch stored it with its deliveries.
    if is_new {
        let cause = batch.causes.get(index).filter(|(of, _)| of == monitor);
        let cause = cause.map(|(_, cause)| cause);
        outbox::enqueue_transition(session, number, transition, cause, batch.at).await?;
    }
    Ok(())
}

/// Returns whether the judge decided before the monitor was paused at this revision. A pause is stored
/// before the judge learns of it, and closes the open incident. Verdicts on the earlier revision are
/// dropped, except for the final `Unknown`.
fn is_past(batch: &Batch, monitor: MonitorId, paused: Option<u32>) -> bool {
    let mut judge_states = batch.judge_states.iter().filter(|(of, _)| *of == monitor);
    let judged = judge_states.next_back().map(|(_, judge_state)| judge_state.revision);
    paused.zip(judged).is_some_and(|(paused, judged)| judged < paused)
}

/// Returns whether the transition opens an incident that does not exist, or closes one that is
/// open.
async fn has_effect_on_incident(
    db: &mut Connection,
    transition: &Transition,
) -> Result<bool, StoreError> {
    let (id, opens) = match transition.incident {
        IncidentChange::None | IncidentChange::Suspended(_) | IncidentChange::Resumed(_) => {
            return Ok(false);
        }
        IncidentChange::Opened(id) => (id, true),
        IncidentChange::Closed { id, .. } => (id, false),
    };
    let closed_at: Option<Option<i64>> = query("SELECT closed_at FROM incidents WHERE id = $1")
        .bind(id.to_string())
        .scalar(db)
        .await?;
    Ok(if opens { closed_at.is_none() } else { closed_at == Some(None) })
}

async fn change_incident(
    session: &mut Session,
    monitor: i64,
    transition: &Transition,
) -> Result<(), StoreError> {
    match transition.incident {
        IncidentChange::None | IncidentChange::Suspended(_) | IncidentChange::Resumed(_) => Ok(()),
        IncidentChange::Opened(id) => incidents::open(session, id, monitor, transition.at).await,
        IncidentChange::Closed { id, reason: how } => {
            incidents::close(&mut session.db, id, transition.at, how).await
        }
    }
}
