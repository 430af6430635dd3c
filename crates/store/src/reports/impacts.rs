//! Impacts on components in updates and templates. The components must exist.

use std::collections::BTreeSet;

use rules::report::{COMPONENTS, COMPONENTS_ALLOWED, ComponentImpact, TEMPLATE_COMPONENTS_ALLOWED};
use rules::{ComponentId, PageId, TemplateId, UpdateId, Violation, WorkspaceId};

use crate::StoreError;
use crate::db::{Connection, query};
use crate::row::id;

/// Returns the components of a status page of the workspace.
pub(super) async fn page_components(
    db: &mut Connection,
    workspace: WorkspaceId,
    page: PageId,
) -> Result<BTreeSet<ComponentId>, StoreError> {
    let rows = query("SELECT id FROM components WHERE workspace_id = $1 AND page_id = $2")
        .bind(workspace.to_string())
        .bind(page.to_string())
        .fetch_all(db)
        .await?;
    rows.iter().map(|row| id(row, "id", ComponentId::parse)).collect()
}

/// Replaces the impacts of an update of a report of this page.
pub(super) async fn replace(
    db: &mut Connection,
    (workspace, page): (WorkspaceId, PageId),
    update: UpdateId,
    components: &[ComponentImpact],
) -> Result<(), StoreError> {
    if !components.is_empty() {
        let known = page_components(db, workspace, page).await?;
        refuse_others(components, |component| known.contains(&component), COMPONENTS_ALLOWED)?;
    }
    query("DELETE FROM report_impacts WHERE report_update = $1")
        .bind(update.to_string())
        .execute(db)
        .await?;
    for impact in components {
        query("INSERT INTO report_impacts (report_update, component, impact) VALUES ($1, $2, $3)")
            .bind(update.to_string())
            .bind(impact.component.to_string())
            .bind(impact.impact.as_str())
            .execute(db)
            .await?;
    }
    Ok(())
}

/// Replaces the impacts of a template.
pub(super) async fn replace_in_template(
    db: &mut Connection,
    workspace: WorkspaceId,
    template: TemplateId,
    components: &[ComponentImpact],
) -> Result<(), StoreError> {
    query("DELETE FROM report_template_impacts WHERE template = $1")
        .bind(template.to_string())
        .execute(db)
        .await?;
    let mut unknown = BTreeSet::new();
    for impact in components {
        let written = query(
            "INSERT INTO report_template_impacts (template, component, impact) \
             SELECT $1, id, $2 FROM components WHERE workspace_id = $3 AND id = $4",
        )
        .bind(template.to_string())
        .bind(impact.impact.as_str())
        .bind(workspace.to_string())
        .bind(impact.component.to_string())
        .execute(db)
        .await?;
        if written == 0 {
            unknown.insert(impact.component);
        }
    }
    refuse_others(components, |it| !unknown.contains(&it), TEMPLATE_COMPONENTS_ALLOWED)
}

fn refuse_others(
    components: &[ComponentImpact],
    is_known: impl Fn(ComponentId) -> bool,
    allowed: &str,
) -> Result<(), StoreError> {
    let named = components.iter().map(|impact| impact.component);
    let unknown: Vec<String> =
        named.filter(|component| !is_known(*component)).map(|it| it.to_string()).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(StoreError::Refused(Violation::new(COMPONENTS, unknown.join(", "), allowed)))
}
