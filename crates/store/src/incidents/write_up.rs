//! Write-ups: the text in Markdown that a person writes about an incident. The dashboard drafts it
//! and publishes it as a status report.

use rules::{IncidentId, ReportId, Timestamp, WorkspaceId};

use super::{Incidents, load};
use crate::audit::{self, NewAuditEntry};
use crate::db::query;
use crate::row::{instant, optional};
use crate::{AuditContext, StoreError};

/// Text about an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteUp {
    /// Text in Markdown.
    pub text: String,
    /// Status report that it became, which may be deleted.
    pub report: Option<ReportId>,
    pub updated_at: Timestamp,
}

impl Incidents<'_> {
    /// Returns the write-up of an incident of the workspace, if a person saved one.
    pub async fn write_up(
        &self,
        workspace: WorkspaceId,
        incident: IncidentId,
    ) -> Result<Option<WriteUp>, StoreError> {
        let row = query(
            "SELECT w.text, w.report_id, w.updated_at FROM incident_write_ups w \
             JOIN incidents i ON i.id = w.incident WHERE i.workspace_id = $1 AND i.id = $2",
        )
        .bind(workspace.to_string())
        .bind(incident.to_string())
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        let read = |row: crate::db::Row| {
            Ok(WriteUp {
                text: row.try_get("text")?,
                report: optional(&row, "report_id", ReportId::parse)?,
                updated_at: instant(&row, "updated_at")?,
            })
        };
        row.map(read).transpose()
    }

    /// Stores the write-up of an incident of the workspace. A `report` that is not given stays.
    pub async fn save_write_up(
        &self,
        (workspace, incident): (WorkspaceId, IncidentId),
        text: String,
        report: Option<ReportId>,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    load(&mut session.db, workspace, incident).await?;
                    query(
                        "INSERT INTO incident_write_ups (incident, text, report_id, updated_at) \
                         VALUES ($1, $2, $3, $4) ON CONFLICT (incident) DO UPDATE SET \
                         text = excluded.text, updated_at = excluded.updated_at, \
                         report_id = COALESCE(excluded.report_id, incident_write_ups.report_id)",
                    )
                    .bind(incident.to_string())
                    .bind(text)
                    .bind(report.map(|id| id.to_string()))
                    .bind(change.at.as_millis())
                    .execute(&mut session.db)
                    .await?;
                    let record = NewAuditEntry {
                        workspace,
                        change,
                        action: "incident.write_up",
                        resource_id: incident.to_string(),
                        detail: "",
                    };
                    audit::record(&mut session.db, record).await
                })
            })
            .await
    }
}
