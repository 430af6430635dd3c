//! Maintenance windows of a page with the components that each affects.

use std::collections::HashMap;

use domain::history::Span;
use domain::page::MaintenanceFacts;
use rules::{ComponentId, MaintenanceId, PageId, Timestamp};

use super::WINDOWS_MAX;
use crate::StoreError;
use crate::db::{Connection, query};
use crate::row::{id, instant, optional_instant};

/// A component under maintenance for a time.
struct Cover {
    /// Index of the component on the page.
    position: usize,
    since: Timestamp,
    /// `None` if the maintenance covers the component until its end.
    until: Option<Timestamp>,
}

/// Returns the windows in `range` that affect the page's components, given by their indexes. If
/// they are more than [`WINDOWS_MAX`], returns those nearest to `now`, so that none that is active
/// is missing.
pub(super) async fn near(
    db: &mut Connection,
    page: PageId,
    positions: &HashMap<ComponentId, usize>,
    (range, now): (Span, Timestamp),
) -> Result<Vec<MaintenanceFacts>, StoreError> {
    let rows = query(select_windows!(
        "SELECT m.id, m.title, m.description, w.from_at, w.until_at, m.recurrence, m.created_at, \
         m.updated_at",
        "AND w.until_at > $2 AND w.from_at < $3 GROUP BY m.id, w.from_at, w.until_at \
         ORDER BY CASE WHEN w.from_at > $4 THEN w.from_at - $4 WHEN w.until_at < $4 \
         THEN $4 - w.until_at ELSE 0 END, w.from_at DESC, m.id LIMIT $5"
    ))
    .bind(page.to_string())
    .bind(range.from.as_millis())
    .bind(range.to.as_millis())
    .bind(now.as_millis())
    .bind(WINDOWS_MAX)
    .fetch_all(&mut *db)
    .await?;
    let covers = covers(db, page, positions, range).await?;
    let mut windows = Vec::with_capacity(rows.len());
    for row in &rows {
        let id: MaintenanceId = id(row, "id", MaintenanceId::parse)?;
        let window = Span { from: instant(row, "from_at")?, to: instant(row, "until_at")? };
        let components = affected(covers.get(&id).map_or(&[], Vec::as_slice), window);
        if components.is_empty() {
            continue;
        }
        windows.push(MaintenanceFacts {
            id,
            title: row.try_get("title")?,
            description: row.try_get("description")?,
            window,
            is_recurring: row.try_get::<Option<&str>>("recurrence")?.is_some(),
            created_at: instant(row, "created_at")?,
            updated_at: instant(row, "updated_at")?,
            components,
        });
    }
    Ok(windows)
}

/// Returns the components that each maintenance with a window in `range` covers.
async fn covers(
    db: &mut Connection,
    page: PageId,
    positions: &HashMap<ComponentId, usize>,
    range: Span,
) -> Result<HashMap<MaintenanceId, Vec<Cover>>, StoreError> {
    let rows = query(concat!(
        "SELECT x.maintenance, x.component, x.since, x.until FROM ",
        select_covers!(),
        " x WHERE EXISTS (SELECT 1 FROM maintenance_windows w WHERE w.maintenance = x.maintenance ",
        "AND w.until_at > $2 AND w.from_at < $3) ORDER BY x.component"
    ))
    .bind(page.to_string())
    .bind(range.from.as_millis())
    .bind(range.to.as_millis())
    .fetch_all(db)
    .await?;
    let mut covers: HashMap<MaintenanceId, Vec<Cover>> = HashMap::new();
    for row in &rows {
        let component: ComponentId = id(row, "component", ComponentId::parse)?;
        let Some(position) = positions.get(&component).copied() else { continue };
        let (since, until) = (instant(row, "since")?, optional_instant(row, "until")?);
        let maintenance = id(row, "maintenance", MaintenanceId::parse)?;
        covers.entry(maintenance).or_default().push(Cover { position, since, until });
    }
    Ok(covers)
}

/// Returns the indexes of the components that a window affects.
fn affected(covers: &[Cover], window: Span) -> Vec<usize> {
    let overlaps =
        |it: &&Cover| it.since < window.to && it.until.is_none_or(|until| until > window.from);
    let mut positions: Vec<usize> = covers.iter().filter(overlaps).map(|it| it.position).collect();
    // A component may be covered directly, through its monitor, and more than once.
    positions.dedup();
    positions
}
