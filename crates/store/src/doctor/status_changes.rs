//! Repairs status changes. The lost status of a change is known from the monitor's next change, or from the
//! judge if there is none.

use rules::MonitorStatus;
use sqlx::AssertSqlSafe;

use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::quarantine::is_unreadable;
use crate::row::{id, instant};

/// Restores the unreadable statuses that other rows tell. Returns the number of restored changes.
pub(super) async fn restore(db: &mut Connection) -> Result<u64, StoreError> {
    let words = words();
    let rows = query(AssertSqlSafe(format!(
        "SELECT c.number, \
         (SELECT n.number FROM status_changes n WHERE n.monitor = c.monitor \
         AND n.number > c.number ORDER BY n.number LIMIT 1) AS next, \
         (SELECT n.from_status FROM status_changes n WHERE n.monitor = c.monitor \
         AND n.number > c.number ORDER BY n.number LIMIT 1) AS next_from, \
         (SELECT j.status FROM judge_states j WHERE j.monitor = c.monitor) AS judged \
         FROM status_changes c WHERE c.to_status NOT IN ({words}) ORDER BY c.number"
    )));
    let mut restored = 0;
    for row in rows.fetch_all(&mut *db).await? {
        let Some(status) = told(&row)? else { continue };
        let number: i64 = row.try_get("number")?;
        restored += query(
            "UPDATE status_changes SET to_status = $1 WHERE number = $2 AND NOT EXISTS \
             (SELECT 1 FROM status_changes s WHERE s.monitor = status_changes.monitor \
             AND s.at = status_changes.at AND s.to_status = $1)",
        )
        .bind(status.as_str())
        .bind(number)
        .execute(&mut *db)
        .await?;
    }
    Ok(restored)
}

/// Returns the status that the next change began with, or else the one that the judge knows.
fn told(row: &Row) -> Result<Option<MonitorStatus>, StoreError> {
    let next: Option<i64> = row.try_get("next")?;
    let column = if next.is_some() { "next_from" } else { "judged" };
    match id(row, column, MonitorStatus::parse) {
        Ok(status) => Ok(Some(status)),
        Err(why) if is_unreadable(&why) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces the unreadable statuses of a change by `unknown`. Without the row, the status before it would
/// seem to continue. A change without a readable time is deleted.
pub(super) async fn forget(db: &mut Connection, number: &str) -> Result<(), StoreError> {
    let row = query("SELECT number, at FROM status_changes WHERE CAST(number AS TEXT) = $1")
        .bind(number.to_owned())
        .fetch_optional(&mut *db)
        .await?;
    let has_time = match row.as_ref().map(|row| instant(row, "at")).transpose() {
        Ok(_) => true,
        Err(why) if is_unreadable(&why) => false,
        Err(error) => return Err(error),
    };
    let statement = if has_time {
        let words = words();
        format!(
            "UPDATE status_changes SET \
             to_status = CASE WHEN to_status IN ({words}) THEN to_status ELSE 'unknown' END, \
             from_status = CASE WHEN from_status IN ({words}) THEN from_status ELSE 'unknown' END \
             WHERE CAST(number AS TEXT) = $1"
        )
    } else {
        "DELETE FROM status_changes WHERE CAST(number AS TEXT) = $1".to_owned()
    };
    query(AssertSqlSafe(statement)).bind(number.to_owned()).execute(db).await?;
    Ok(())
}

/// Returns the statuses as a list for SQL.
fn words() -> String {
    MonitorStatus::WORDS.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ")
}
