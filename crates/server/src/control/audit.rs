//! Lists the audit log for an operator.

use store::{AuditEntry, AuditFilter, Page};

use super::service::control_error;
use super::{AuditQuery, AuditRow, ControlError, ControlService};
use crate::actor;

impl ControlService {
    /// Returns the latest changes of a workspace that match, newest first.
    pub async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditRow>, ControlError> {
        let AuditQuery { workspace, limit, resource_id, actor, from, to } = query;
        let workspace = self.workspace(&workspace).await?;
        let actor = match actor {
            None => None,
            Some(name) => Some(actor::parse(&name).ok_or_else(|| {
                ControlError::Refused(format!("actor `{name}` {}", actor::ALLOWED))
            })?),
        };
        let filter = AuditFilter { resource_id, actor, from, to };
        let page = Page { limit, offset: 0, after: None };
        let found =
            self.store.audit().list(workspace.id, &filter, page).await.map_err(control_error)?;
        Ok(found.rows.into_iter().map(AuditRow::from).collect())
    }
}

impl From<AuditEntry> for AuditRow {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry {
            number: _,
            at,
            actor,
            action,
            resource_id,
            detail,
            actor_name,
            address,
            changes,
        } = entry;
        let changes = changes.into_vec();
        let (actor, actor_name) = (actor::encode(actor), actor_name.unwrap_or_default());
        Self { at, actor, actor_name, action, resource_id, detail, address, changes }
    }
}
