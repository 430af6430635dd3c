//! Slugs and custom domains, which are unique on a server.

use rules::status_page::StatusPage;
use rules::{DomainName, Violation};

use crate::StoreError;
use crate::db::{Connection, query};

/// Rejects a slug or custom domain that another page of the server has. Only one transaction writes
/// at a time, so it cannot be taken in between.
pub(super) async fn refuse_taken(db: &mut Connection, page: &StatusPage) -> Result<(), StoreError> {
    let id = page.id.to_string();
    let slug = query("SELECT 1 FROM pages WHERE slug = $1 AND id <> $2")
        .bind(&page.settings.slug)
        .bind(&id)
        .fetch_optional(db)
        .await?;
    if slug.is_some() {
        return Err(taken("slug", &page.settings.slug));
    }
    let Some(written) = &page.settings.custom_domain else { return Ok(()) };
    let domain = query("SELECT 1 FROM pages WHERE custom_domain_name = $1 AND id <> $2")
        .bind(domain_name(page))
        .bind(&id)
        .fetch_optional(db)
        .await?;
    if domain.is_some() {
        return Err(taken("custom_domain", written));
    }
    Ok(())
}

fn taken(field: &str, given: &str) -> StoreError {
    let allowed = "is already used by another status page of this server";
    StoreError::Taken(Violation::new(field, given, allowed))
}

pub(super) fn domain_name(page: &StatusPage) -> Option<String> {
    page.settings.custom_domain_name().as_ref().map(DomainName::to_string)
}
