//! Resources by ID or name: how a person names them, how they are listed, and the verbs that all of them
//! share. A kind is a row of data, so that no command has code per field.

mod input;
mod kinds;
mod show;
mod verbs;

use anyhow::{Result, bail};
use rules::field::{Resource, json_name};
use rules::limits::LIST_LIMIT_MAX;
use serde_json::{Map, Value as Json, json};

use crate::named::{self, NamedId};
use crate::session::Session;

pub(crate) use self::input::{InputArgs, resolve};
pub(crate) use self::kinds::{
    CHANNELS, COMPONENTS, GROUPS, INVITATIONS, KEYS, MAINTENANCES, MEMBERS, MONITORS, PAGES,
    PROBES, REPORTS, TEMPLATES,
};
pub(crate) use self::show::lines;
pub(crate) use self::verbs::{DeletionArgs, ListArgs, create, delete, get, list, read, update};

/// A kind of resources.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Noun of errors and questions.
    pub(crate) noun: &'static str,
    /// Path of its service, up to the name of a method.
    pub(crate) service: &'static str,
    /// Name in methods, such as `StatusPage` in `GetStatusPage`.
    pub(crate) method: &'static str,
    /// Method that lists all.
    pub(crate) list_method: &'static str,
    /// Field of messages with one of them, as in the contract.
    pub(crate) field: &'static str,
    /// Fields of the list with all of them, in JSON.
    pub(crate) lists: &'static [&'static str],
    /// Field with the ID, in JSON.
    pub(crate) id: &'static str,
    /// Fields by which people name it, in JSON.
    pub(crate) names: &'static [&'static str],
    /// Returns whether a text is an ID.
    pub(crate) is_id: fn(&str) -> bool,
    /// Whether lists have pages. The others are short.
    pub(crate) is_paged: bool,
    /// Columns of lists: heading and field in JSON.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// Its fields, if commands create or show them.
    pub(crate) table: Option<&'static Resource>,
}

impl Kind {
    /// Returns the path of a method, such as `Get`.
    pub(crate) fn method(&self, verb: &str) -> String {
        format!("{}{verb}{}", self.service, self.method)
    }

    /// Returns the field of messages in JSON.
    pub(crate) fn json_field(&self) -> String {
        json_name(self.field)
    }

    /// Returns the ID of a resource.
    pub(crate) fn id_of<'a>(&self, resource: &'a Json) -> &'a str {
        resource[self.id].as_str().unwrap_or_default()
    }

    /// Returns the first name of a resource, or an empty text.
    pub(crate) fn name_of(&self, resource: &Json) -> String {
        let names = self.names.iter().filter_map(|name| resource[*name].as_str());
        names.into_iter().find(|name| !name.is_empty()).unwrap_or_default().to_owned()
    }
}

/// Returns all resources of a kind that match a filter, newest first. `doing` names the call.
pub(crate) async fn all(
    session: &Session<'_>,
    kind: &Kind,
    filter: &Map<String, Json>,
) -> Result<Vec<Json>> {
    let doing = format!("listing {}s", kind.noun);
    let method = format!("{}{}", kind.service, kind.list_method);
    let (mut found, mut token) = (Vec::new(), String::new());
    loop {
        let mut request = filter.clone();
        if kind.is_paged {
            request.insert("limit".to_owned(), json!(LIST_LIMIT_MAX));
        }
        if !token.is_empty() {
            request.insert("pageToken".to_owned(), json!(token));
        }
        let mut page = session.call(&doing, &method, &Json::Object(request)).await?;
        for list in kind.lists {
            if let Some(Json::Array(part)) = page.get_mut(*list).map(Json::take) {
                found.extend(part);
            }
        }
        let next = page["nextPageToken"].as_str().unwrap_or_default();
        if next.is_empty() || next == token {
            return Ok(found);
        }
        next.clone_into(&mut token);
    }
}

/// Returns the ID of the resource that a person means. An ID is returned as it is.
pub(crate) async fn id(session: &Session<'_>, kind: &'static Kind, given: &str) -> Result<String> {
    id_within(session, kind, given, &Map::new()).await
}

/// Like [`id`], among the resources that match a filter.
pub(crate) async fn id_within(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &str,
    filter: &Map<String, Json>,
) -> Result<String> {
    if (kind.is_id)(given) {
        return Ok(given.to_owned());
    }
    named::require_name(kind.noun, given)?;
    Ok(kind.id_of(&find_by_name(session, kind, given, filter).await?).to_owned())
}

/// Returns the IDs of the resources that a person means.
pub(crate) async fn ids(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &[String],
) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for given in given {
        ids.push(id(session, kind, given).await?);
    }
    Ok(ids)
}

/// Returns the IDs of the resources of a page that a person means.
pub(crate) async fn ids_on_page(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &[String],
    page: &str,
) -> Result<Vec<String>> {
    let filter = Map::from_iter([("pageId".to_owned(), json!(page))]);
    let mut ids = Vec::new();
    for given in given {
        ids.push(id_within(session, kind, given, &filter).await?);
    }
    Ok(ids)
}

/// Returns the ID of an optional resource.
pub(crate) async fn optional_id(
    session: &Session<'_>,
    kind: &'static Kind,
    given: Option<&str>,
) -> Result<Option<String>> {
    match given {
        Some(given) => id(session, kind, given).await.map(Some),
        None => Ok(None),
    }
}

/// Returns a resource from the list of its kind, by one of its names.
async fn find_by_name(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &str,
    filter: &Map<String, Json>,
) -> Result<Json> {
    let mut found = all(session, kind, filter).await?;
    if std::ptr::eq(kind, &raw const COMPONENTS) {
        name_components(session, &mut found).await?;
    }
    let named = |at: usize, field: &str| NamedId {
        id: kind.id_of(&found[at]).to_owned(),
        name: found[at][field].as_str().unwrap_or_default().to_owned(),
    };
    // An earlier name, such as the slug of a page, precedes a later one.
    for field in kind.names {
        let known: Vec<NamedId> = (0..found.len()).map(|at| named(at, field)).collect();
        if known.iter().any(|it| it.name == given) {
            let at = named::position(kind.noun, given, &known)?;
            return Ok(found.swap_remove(at));
        }
    }
    let known: Vec<NamedId> = kind
        .names
        .iter()
        .flat_map(|field| (0..found.len()).map(|at| named(at, field)).collect::<Vec<_>>())
        .filter(|it| !it.name.is_empty())
        .collect();
    named::position(kind.noun, given, &known)?;
    bail!("{} `{}` not found in this workspace", kind.noun, crate::output::one_line(given))
}

/// Gives components without a name the name of their monitor, as pages do.
pub(crate) async fn name_components(session: &Session<'_>, components: &mut [Json]) -> Result<()> {
    let is_unnamed =
        |it: &Json| it["name"].as_str().is_none_or(str::is_empty) && it["monitorId"].is_string();
    if !components.iter().any(is_unnamed) {
        return Ok(());
    }
    let monitors = all(session, &MONITORS, &Map::new()).await?;
    for component in components.iter_mut().filter(|it| is_unnamed(it)) {
        let monitor = monitors.iter().find(|it| it["id"] == component["monitorId"]);
        if let Some(monitor) = monitor {
            component["name"] = monitor["name"].clone();
        }
    }
    Ok(())
}
