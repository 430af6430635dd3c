//! Builds the announcement of an update, in the transaction that writes the update. The outbox fans
//! it out to the subscribers of the page.

use std::collections::{BTreeMap, BTreeSet};

use domain::report::{AnnouncedComponent, ReportAnnouncement};
use rules::report::Report;
use rules::{ComponentId, PageId, UpdateId};

use crate::db::{Connection, query};
use crate::row::id;
use crate::writer::Session;
use crate::{AuditContext, StoreError, outbox};

/// Enqueues the announcement of an update, if it asks for one.
pub(super) async fn announce(
    session: &mut Session,
    report: &Report,
    update: UpdateId,
    change: AuditContext,
) -> Result<(), StoreError> {
    let Some(announced) = report.updates.iter().find(|it| it.id == update && it.notified) else {
        return Ok(());
    };
    let names = names(&mut session.db, report.page).await?;
    let concerns: BTreeSet<ComponentId> =
        report.updates.iter().flat_map(|it| &it.components).map(|it| it.component).collect();
    let components = announced.components.iter().map(|it| AnnouncedComponent {
        id: it.component,
        name: names.get(&it.component).cloned().unwrap_or_default(),
        impact: it.impact,
    });
    let notice = ReportAnnouncement {
        page: report.page,
        report: report.id,
        update,
        title: report.title.clone(),
        status: announced.status,
        text: announced.text.clone(),
        at: announced.at,
        is_first: report.updates.len() == 1,
        components: components.collect(),
        concerns: concerns.into_iter().collect(),
    };
    outbox::enqueue_report(session, report.workspace, &notice, change.at).await
}

/// Returns the names of a page's components.
async fn names(
    db: &mut Connection,
    page: PageId,
) -> Result<BTreeMap<ComponentId, String>, StoreError> {
    let rows = query(
        "SELECT c.id, COALESCE(c.name, m.name, c.id) AS name FROM components c \
         LEFT JOIN monitors m ON m.number = c.monitor WHERE c.page_id = $1",
    )
    .bind(page.to_string())
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| Ok((id(row, "id", ComponentId::parse)?, row.try_get("name")?))).collect()
}
