//! Maintenance windows of a page with the components that each affects.

use std::collections::HashMap;

use domain::history::Span;
use domain::page::MaintenanceFacts;
use rules::{ComponentId, MaintenanceId, PageId, Timestamp};

use super::WINDOWS_MAX;
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
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
    (db, quarantine): (&mut Connection, &Quarantine),
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
    let covers = covers((db, quarantine), page, positions, range).await?;
    let mut windows = Vec::with_capacity(rows.len());
    for mut facts in quarantine.readable_rows("maintenances", &rows, read)? {
        let covers = covers.get(&facts.id).map_or(&[][..], Vec::as_slice);
        facts.components = affected(covers, facts.window);
        if !facts.components.is_empty() {
            windows.push(facts);
        }
    }
    Ok(windows)
}

/// Reads a window, without the components that it affects.
fn read(row: &Row) -> Result<MaintenanceFacts, StoreError> {
    Ok(MaintenanceFacts {
        id: id(row, "id", MaintenanceId::parse)?,
        title: row.try_get("title")?,
        description: row.try_get("description")?,
        window: Span { from: instant(row, "from_at")?, to: instant(row, "until_at")? },
        is_recurring: row.try_get::<Option<&str>>("recurrence")?.is_some(),
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
        components: Vec::new(),
    })
}

/// Returns the components that each maintenance with a window in `range` covers.
async fn covers(
    (db, quarantine): (&mut Connection, &Quarantine),
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
    let read = |row: &Row| {
        // The page omits components with an unreadable identifier.
        let component = ComponentId::parse(row.try_get("component")?).ok();
        let position = component.and_then(|component| positions.get(&component).copied());
        let Some(position) = position else { return Ok(None) };
        let (since, until) = (instant(row, "since")?, optional_instant(row, "until")?);
        let maintenance = id(row, "maintenance", MaintenanceId::parse)?;
        Ok(Some((maintenance, Cover { position, since, until })))
    };
    for (maintenance, cover) in
        quarantine.readable_rows("maintenances", &rows, read)?.into_iter().flatten()
    {
        covers.entry(maintenance).or_default().push(cover);
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
