//! Templates of reports. Repeated creates have no effect, and an edit must be based on the latest
//! version. The components of a template must exist, which is checked in the same transaction.

use std::collections::BTreeMap;

use rules::report::{ComponentImpact, Impact, ReportStatus, ReportTemplate, TemplateSettings};
use rules::{ComponentId, TemplateId, Violation, WorkspaceId, limits};

use super::impacts;
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Query, Row, query};
use crate::list::Listed;
use crate::row::{id, instant, optional, to_count};
use crate::writer::Session;
use crate::{
    AuditContext, Created, Idempotency, Page, Store, StoreError, UpdateContext, idempotency,
};

/// Selects templates for [`all`]: a row for each template, and one for each of its components. The
/// argument is a subquery of identifiers.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT t.id, NULL AS component, NULL AS impact, t.workspace_id, t.name, t.title, \
             t.status, t.text, ",
            "t.created_at, t.updated_at FROM report_templates t WHERE t.id IN (",
            $which,
            ") UNION ALL SELECT i.template, i.component, i.impact, NULL, NULL, NULL, NULL, NULL, ",
            "NULL, NULL FROM report_template_impacts i WHERE i.template IN (",
            $which,
            ")"
        )
    };
}

/// Handle of the templates of reports.
#[derive(Clone, Copy, Debug)]
pub struct ReportTemplates<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the templates of status reports.
    pub const fn report_templates(&self) -> ReportTemplates<'_> {
        ReportTemplates { store: self }
    }
}

/// Template to create.
#[derive(Clone, Debug)]
pub struct NewTemplate {
    pub id: TemplateId,
    pub workspace: WorkspaceId,
    /// Settings from the user.
    pub settings: TemplateSettings,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

impl ReportTemplates<'_> {
    /// Returns a template of the workspace.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: TemplateId,
    ) -> Result<ReportTemplate, StoreError> {
        load(&mut self.store.read().await?, workspace, &id.to_string()).await
    }

    /// Returns a part of the workspace's templates, newest first, and how many there are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        page: Page<TemplateId>,
    ) -> Result<Listed<ReportTemplate>, StoreError> {
        let mut db = self.store.read().await?;
        let total = query("SELECT COUNT(*) FROM report_templates WHERE workspace_id = $1");
        let total: Option<i64> = total.bind(workspace.to_string()).scalar(&mut db).await?;
        let part = query(select!(
            "SELECT id FROM report_templates WHERE workspace_id = $1 AND id < $2 \
             ORDER BY id DESC LIMIT $3 OFFSET $4"
        ))
        .bind(workspace.to_string())
        .bind(page.before())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset));
        let rows = part.fetch_all(&mut db).await?;
        let quarantine = self.store.quarantine();
        let (rows, omitted) = quarantine.readable_groups("report_templates", &rows, assemble)?;
        Ok(Listed { rows, omitted, total: to_count(total) })
    }

    /// Creates a template. A workspace has a limited number of templates.
    pub async fn create(
        &self,
        new: NewTemplate,
        change: AuditContext,
    ) -> Result<Created<ReportTemplate>, StoreError> {
        self.store
            .write_in(new.workspace, move |session| Box::pin(create(session, new, change)))
            .await
    }

    /// Replaces the settings of a template that was read as `seen`. Fails with a conflict if it was
    /// changed since.
    pub async fn update(
        &self,
        seen: ReportTemplate,
        settings: TemplateSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<ReportTemplate, StoreError> {
        let UpdateContext { change, changes } = change.into();
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let (seen_at, workspace) = (seen.updated_at, seen.workspace);
                    let template =
                        ReportTemplate { settings, updated_at: change.after(seen_at), ..seen };
                    let id = template.id.to_string();
                    if load(db, workspace, &id).await?.updated_at != seen_at {
                        return Err(StoreError::Conflict { what: "template", id });
                    }
                    replace(db, &template).await?;
                    let components = &template.settings.components;
                    impacts::replace_in_template(db, workspace, template.id, components).await?;
                    record_change(db, &template, change, "report_template.update").await?;
                    audit::attach_changes(session, (workspace, &template.id.to_string()), &changes)
                        .await?;
                    Ok(template)
                })
            })
            .await
    }

    /// Deletes a template.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: TemplateId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let template = load(db, workspace, &id.to_string()).await?;
                    for statement in [
                        "DELETE FROM report_template_impacts WHERE template = $1",
                        "DELETE FROM report_templates WHERE id = $1",
                    ] {
                        query(statement).bind(id.to_string()).execute(db).await?;
                    }
                    record_change(db, &template, change, "report_template.delete").await
                })
            })
            .await
    }
}

async fn create(
    session: &mut Session,
    new: NewTemplate,
    change: AuditContext,
) -> Result<Created<ReportTemplate>, StoreError> {
    let NewTemplate { id, workspace, settings, idempotency: call } = new;
    let db = &mut session.db;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        return load(db, workspace, &id).await.map(Created::Before).map_err(idempotency::gone);
    }
    check_template_limit(db, workspace).await?;
    let (created_at, updated_at) = (change.at, change.at);
    let template = ReportTemplate { id, workspace, settings, created_at, updated_at };
    insert(db, &template).await?;
    impacts::replace_in_template(db, workspace, id, &template.settings.components).await?;
    let created = (&*id.to_string(), change.at);
    idempotency::record(db, workspace, call.as_ref(), created).await?;
    record_change(db, &template, change, "report_template.create").await?;
    Ok(Created::Now(template))
}

async fn check_template_limit(
    db: &mut Connection,
    workspace: WorkspaceId,
) -> Result<(), StoreError> {
    let max = limits::REPORT_TEMPLATES_MAX;
    let there = query("SELECT COUNT(*) FROM report_templates WHERE workspace_id = $1");
    let there: Option<i64> = there.bind(workspace.to_string()).scalar(db).await?;
    if there.unwrap_or_default() < i64::from(max) {
        return Ok(());
    }
    let allowed = format!("cannot be added: a workspace has at most {max} templates");
    Err(StoreError::Refused(Violation::without_value("name", allowed)))
}

async fn load(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: &str,
) -> Result<ReportTemplate, StoreError> {
    let which =
        query(select!("SELECT id FROM report_templates WHERE workspace_id = $1 AND id = $2"));
    let found = all(db, which.bind(workspace.to_string()).bind(id)).await?.pop();
    found.ok_or_else(|| StoreError::not_found("template", id))
}

async fn all(db: &mut Connection, which: Query) -> Result<Vec<ReportTemplate>, StoreError> {
    let rows = which.fetch_all(db).await?;
    assemble(&rows.iter().collect::<Vec<_>>())
}

fn assemble(rows: &[&Row]) -> Result<Vec<ReportTemplate>, StoreError> {
    let mut templates = Vec::new();
    let mut impacts: BTreeMap<&str, Vec<ComponentImpact>> = BTreeMap::new();
    for row in rows {
        let component: Option<&str> = row.try_get("component")?;
        if component.is_none() {
            templates.push(read(row)?);
            continue;
        }
        let component = id(row, "component", ComponentId::parse)?;
        let impact = ComponentImpact { component, impact: id(row, "impact", Impact::parse)? };
        impacts.entry(row.try_get("id")?).or_default().push(impact);
    }
    for template in &mut templates {
        let mut components = impacts.remove(template.id.to_string().as_str()).unwrap_or_default();
        components.sort_unstable();
        template.settings.components = components;
    }
    Ok(templates)
}

fn read(row: &Row) -> Result<ReportTemplate, StoreError> {
    let settings = TemplateSettings {
        name: row.try_get("name")?,
        title: row.try_get("title")?,
        status: optional(row, "status", ReportStatus::parse)?,
        text: row.try_get("text")?,
        components: Vec::new(),
    };
    Ok(ReportTemplate {
        id: id(row, "id", TemplateId::parse)?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        settings,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

async fn insert(db: &mut Connection, template: &ReportTemplate) -> Result<(), StoreError> {
    let settings = &template.settings;
    query(
        "INSERT INTO report_templates (id, workspace_id, name, title, status, text, created_at, \
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(template.id.to_string())
    .bind(template.workspace.to_string())
    .bind(&settings.name)
    .bind(&settings.title)
    .bind(settings.status.map(ReportStatus::as_str))
    .bind(&settings.text)
    .bind(template.created_at.as_millis())
    .bind(template.updated_at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

async fn replace(db: &mut Connection, template: &ReportTemplate) -> Result<(), StoreError> {
    let settings = &template.settings;
    query(
        "UPDATE report_templates SET name = $1, title = $2, status = $3, text = $4, \
         updated_at = $5 WHERE id = $6",
    )
    .bind(&settings.name)
    .bind(&settings.title)
    .bind(settings.status.map(ReportStatus::as_str))
    .bind(&settings.text)
    .bind(template.updated_at.as_millis())
    .bind(template.id.to_string())
    .execute(db)
    .await?;
    Ok(())
}

async fn record_change(
    db: &mut Connection,
    template: &ReportTemplate,
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let (workspace, resource_id) = (template.workspace, template.id.to_string());
    audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail: "" }).await
}
