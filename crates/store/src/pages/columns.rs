//! Columns of a status page: reads `rules::status_page::StatusPage`. The password is sealed.

use rules::status_page::{PageSettings, StatusPage};
use rules::{AccessType, PageId, Secret, Theme, WorkspaceId};

use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::row::{id, instant, optional};
use crate::vault::{EncryptionContext, Vault};

/// Selects pages for [`read`]. The argument is the `WHERE` clause.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT id, workspace_id, title, slug, description, homepage_url, contact_url, icon, ",
            "custom_domain, access_type, password_sealed, auth_email_domains, published, theme, ",
            "created_at, updated_at, allow_indexing FROM pages ",
            $which
        )
    };
}
pub(super) use select;

/// Returns a page of the workspace.
pub(super) async fn find(
    db: &mut Connection,
    vault: &Vault,
    workspace: WorkspaceId,
    id: &str,
) -> Result<StatusPage, StoreError> {
    let row = query(select!("WHERE workspace_id = $1 AND id = $2"))
        .bind(workspace.to_string())
        .bind(id)
        .fetch_optional(db)
        .await?
        .ok_or_else(|| StoreError::not_found("status page", id))?;
    read(vault, &row)
}

/// Reads the columns of a page.
pub(super) fn read(vault: &Vault, row: &Row) -> Result<StatusPage, StoreError> {
    let page_id: PageId = id(row, "id", PageId::parse)?;
    let sealed: Option<&[u8]> = row.try_get("password_sealed")?;
    let row_name = page_id.to_string();
    let password =
        sealed.map(|sealed| vault.open(password_context(&row_name), sealed)).transpose()?;
    let settings = PageSettings {
        title: row.try_get("title")?,
        slug: row.try_get("slug")?,
        description: row.try_get("description")?,
        homepage_url: row.try_get("homepage_url")?,
        contact_url: row.try_get("contact_url")?,
        icon: row.try_get("icon")?,
        custom_domain: row.try_get("custom_domain")?,
        access_type: optional(row, "access_type", AccessType::parse)?,
        password: password.map(Secret::new),
        auth_email_domains: domains(row.try_get("auth_email_domains")?)?,
    };
    Ok(StatusPage {
        id: page_id,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        settings,
        published: row.try_get("published")?,
        theme: id(row, "theme", Theme::parse)?,
        allow_indexing: row.try_get("allow_indexing")?,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

/// Returns the sealed password of a page.
pub(super) fn sealed_password(
    vault: &Vault,
    page: &StatusPage,
) -> Result<Option<Vec<u8>>, StoreError> {
    let row_name = page.id.to_string();
    let password = page.settings.password.as_ref();
    password.map(|password| vault.seal(password_context(&row_name), password.expose())).transpose()
}

/// Encodes domains as a JSON list.
pub(super) fn domains_text(domains: &[String]) -> String {
    serde_json::to_string(domains).expect("strings serialize to JSON")
}

fn domains(text: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text)
        .map_err(|why| StoreError::corrupt("pages.auth_email_domains", why.to_string()))
}

const fn password_context(id: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "pages.password_sealed", row: id }
}
