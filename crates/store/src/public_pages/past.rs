//! Archive of a page beyond its home page: one incident, or all events in a time range.

use std::collections::HashMap;

use domain::history::Span;
use domain::page::{ArchiveFacts, IncidentFacts};
use rules::{ComponentId, IncidentId, PageId, Region, Timestamp};

use super::{INCIDENTS_MAX, PublicPages, WINDOWS_MAX, incident, windows};
use crate::db::{Connection, Row, query};
use crate::row::optional_instant;
use crate::{StoreError, codes, reports};

impl PublicPages<'_> {
    /// Returns an incident and the regions whose checks failed. `None` if there is none,
    /// or if no component of the page shows its monitor.
    pub async fn incident(
        &self,
        page: PageId,
        id: IncidentId,
    ) -> Result<Option<(IncidentFacts, Vec<Region>)>, StoreError> {
        let mut db = self.store.read().await?;
        let row = query(select_incidents!("AND i.id = $2"))
            .bind(page.to_string())
            .bind(id.to_string())
            .fetch_optional(&mut db)
            .await?;
        let Some(facts) = row.as_ref().map(incident).transpose()? else { return Ok(None) };
        let rows = query(
            "SELECT incident || '/' || CAST(region AS TEXT) AS key, region \
             FROM incident_evidence WHERE incident = $1 ORDER BY region",
        )
        .bind(id.to_string())
        .fetch_all(&mut db)
        .await?;
        let region = |row: &Row| codes::region(row.try_get("region")?);
        let regions = self.store.quarantine().readable_rows("incident_evidence", &rows, region)?;
        Ok(Some((facts, regions)))
    }

    /// Returns the start of the oldest stored event of the page.
    pub async fn first(&self, page: PageId) -> Result<Option<Timestamp>, StoreError> {
        first_event_at(&mut self.store.read().await?, page).await
    }

    /// Returns the events that started in `range` or overlap it, for components given by their
    /// indexes on the page.
    pub async fn past(
        &self,
        page: PageId,
        positions: &HashMap<ComponentId, usize>,
        range: Span,
    ) -> Result<ArchiveFacts, StoreError> {
        let mut db = self.store.read().await?;
        let rows = query(select_incidents!(
            "AND i.opened_at >= $2 AND i.opened_at < $3 \
             ORDER BY i.opened_at DESC, i.id DESC LIMIT $4"
        ))
        .bind(page.to_string())
        .bind(range.from.as_millis())
        .bind(range.to.as_millis())
        .bind(INCIDENTS_MAX)
        .fetch_all(&mut db)
        .await?;
        let quarantine = self.store.quarantine();
        let maintenances =
            windows::near((&mut db, quarantine), page, positions, (range, range.to)).await?;
        let is_full = |count: usize, most: i64| i64::try_from(count).is_ok_and(|it| it >= most);
        let reports = reports::started_in(&mut db, quarantine, page, range).await?;
        Ok(ArchiveFacts {
            is_cut: is_full(rows.len(), INCIDENTS_MAX)
                || is_full(maintenances.len(), WINDOWS_MAX)
                || is_full(reports.len(), reports::PAGE_REPORTS_MAX),
            reports,
            incidents: quarantine.readable_rows("incidents", &rows, incident)?,
            maintenances,
            first: first_event_at(&mut db, page).await?,
        })
    }
}

/// Returns the start of the oldest stored event of the page.
async fn first_event_at(
    db: &mut Connection,
    page: PageId,
) -> Result<Option<Timestamp>, StoreError> {
    let incident = query(
        "SELECT MIN((SELECT MIN(i.opened_at) FROM incidents i \
         WHERE i.monitor = c.monitor)) AS oldest FROM components c WHERE c.page_id = $1",
    );
    let window = query(select_windows!("SELECT MIN(w.from_at) AS oldest", ""));
    let mut first: Option<Timestamp> = None;
    let report = query("SELECT MIN(started_at) AS oldest FROM reports WHERE page_id = $1");
    for question in [report, incident, window] {
        let row = question.bind(page.to_string()).fetch_one(&mut *db).await?;
        let oldest = optional_instant(&row, "oldest")?;
        first = first.into_iter().chain(oldest).min();
    }
    Ok(first)
}
