//! Arguments of a resource from flags or from JSON. Fields with the ID of another resource also take its
//! name.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rules::field::{Resource, Shape, json_name};
use rules::{ComponentId, GroupId, MonitorId, PageId};
use serde_json::{Map, Value as Json, json};

use super::{COMPONENTS, GROUPS, Kind, MONITORS, PAGES, id_within};
use crate::field_flags::{FieldFlags, FlagSource, GROUP};
use crate::output_args::OutputArgs;
use crate::session::Session;

/// Arguments of a resource, from flags or from JSON.
#[derive(Debug, Args)]
pub(crate) struct InputArgs<S: FlagSource> {
    /// Read the arguments from a file with the contract's JSON, - for standard input, instead of flags
    #[arg(long, value_name = "FILE", conflicts_with = GROUP)]
    pub(crate) from_json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output_args: OutputArgs,
    #[command(flatten, next_help_heading = "Arguments")]
    pub(crate) flags: FieldFlags<S>,
}

/// Replaces names by IDs in the fields of a table that refer to other resources. Groups are looked up on
/// the page.
pub(crate) async fn resolve(
    session: &Session<'_>,
    table: &'static Resource,
    values: &mut Map<String, Json>,
    page: Option<&str>,
) -> Result<()> {
    let mut page = page.map(str::to_owned);
    for field in table.fields {
        let (Shape::Id(prefix) | Shape::SetOfIds(prefix)) = field.shape else { continue };
        let Some(kind) = kind_of(prefix) else { continue };
        let Some(value) = values.get_mut(&json_name(field.name)) else { continue };
        let filter = match &page {
            Some(page) if prefix == GroupId::PREFIX => {
                Map::from_iter([("pageId".to_owned(), json!(page))])
            }
            Some(_) | None => Map::new(),
        };
        let texts = value.as_array_mut().into_iter().flatten();
        for text in texts {
            *text =
                json!(id_within(session, kind, text.as_str().unwrap_or_default(), &filter).await?);
        }
        if let Some(given) = value.as_str() {
            let id = id_within(session, kind, given, &filter).await?;
            if prefix == PageId::PREFIX {
                page = Some(id.clone());
            }
            *value = json!(id);
        }
    }
    Ok(())
}

/// Returns the kind of resources with this prefix of IDs, if fields refer to it by name.
fn kind_of(prefix: &str) -> Option<&'static Kind> {
    let kinds = [
        (MonitorId::PREFIX, &MONITORS),
        (PageId::PREFIX, &PAGES),
        (GroupId::PREFIX, &GROUPS),
        (ComponentId::PREFIX, &COMPONENTS),
    ];
    kinds.into_iter().find(|(known, _)| *known == prefix).map(|(_, kind)| kind)
}
