//! Links a maintenance to its monitors and components, which must exist.

use std::collections::BTreeSet;

use rules::maintenance::{COMPONENTS, COMPONENTS_ALLOWED, MONITORS, MONITORS_ALLOWED, Maintenance};
use rules::{MaintenanceId, Violation};
use sqlx::AssertSqlSafe;

use crate::StoreError;
use crate::db::{Connection, Query, query};

/// Number of monitors or components per statement.
const NAMED_AT_ONCE: usize = 500;

/// Links a maintenance to its monitors and components, which must exist.
pub(super) async fn link(db: &mut Connection, maintenance: &Maintenance) -> Result<(), StoreError> {
    let settings = &maintenance.settings;
    let monitors: Vec<_> = settings.monitor_ids.iter().map(ToString::to_string).collect();
    link_each(db, maintenance, &MONITOR_LINKS, &monitors).await?;
    let components: Vec<_> = settings.component_ids.iter().map(ToString::to_string).collect();
    link_each(db, maintenance, &COMPONENT_LINKS, &components).await
}

/// Kind of link: its field, and the statements that link and find the objects. Both statements end
/// with a list of identifiers.
struct LinkKind {
    field: (&'static str, &'static str),
    link: &'static str,
    find: &'static str,
}

const MONITOR_LINKS: LinkKind = LinkKind {
    field: (MONITORS, MONITORS_ALLOWED),
    link: "INSERT INTO maintenance_monitors (maintenance, monitor) SELECT $1, number \
           FROM monitors WHERE workspace_id = $2 AND deleted_at IS NULL AND id IN ",
    find: "SELECT id FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL AND id IN ",
};
const COMPONENT_LINKS: LinkKind = LinkKind {
    field: (COMPONENTS, COMPONENTS_ALLOWED),
    link: "INSERT INTO maintenance_components (maintenance, component) SELECT $1, id \
           FROM components WHERE workspace_id = $2 AND id IN ",
    find: "SELECT id FROM components WHERE workspace_id = $1 AND id IN ",
};

async fn link_each(
    db: &mut Connection,
    maintenance: &Maintenance,
    links: &LinkKind,
    ids: &[String],
) -> Result<(), StoreError> {
    let workspace = maintenance.workspace.to_string();
    for ids in ids.chunks(NAMED_AT_ONCE) {
        let first = [maintenance.id.to_string(), workspace.clone()];
        let linked = id_list_query(links.link, &first, ids).execute(&mut *db).await?;
        if linked == ids.len() as u64 {
            continue;
        }
        let rows = id_list_query(links.find, std::array::from_ref(&workspace), ids)
            .fetch_all(&mut *db)
            .await?;
        let known: BTreeSet<String> =
            rows.iter().map(|row| row.try_get("id")).collect::<Result<_, sqlx::Error>>()?;
        let unknown: Vec<&str> =
            ids.iter().map(String::as_str).filter(|id| !known.contains(*id)).collect();
        let (field, allowed) = links.field;
        return Err(StoreError::Refused(Violation::new(field, unknown.join(", "), allowed)));
    }
    Ok(())
}

/// Builds a statement that ends with a list of identifiers, after its `first` values.
fn id_list_query<const N: usize>(statement: &str, first: &[String; N], ids: &[String]) -> Query {
    let placeholders: Vec<_> = (N + 1..=N + ids.len()).map(|index| format!("${index}")).collect();
    let statement = format!("{statement}({})", placeholders.join(", "));
    first.iter().chain(ids).fold(query(AssertSqlSafe(statement)), Query::bind)
}

/// Removes all links of a maintenance.
pub(super) async fn unlink(db: &mut Connection, id: MaintenanceId) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM maintenance_monitors WHERE maintenance = $1",
        "DELETE FROM maintenance_components WHERE maintenance = $1",
    ] {
        query(statement).bind(id.to_string()).execute(&mut *db).await?;
    }
    Ok(())
}
