//! The verbs that all resources share: list, get, create, update and delete.

use anyhow::{Context as _, Result, bail};
use clap::Args;
use rules::field::json_name;
use serde_json::{Map, Value as Json, json};

use super::{COMPONENTS, InputArgs, Kind, id_within, lines, name_components, resolve, show};
use crate::field_flags::{FieldFlags, FlagSource};
use crate::json_input;
use crate::named::{NamedId, confirm_deletion};
use crate::output::{self, one_line};
use crate::output_args::OutputArgs;
use crate::paging::{self, Paging, SHOWN};
use crate::session::{Session, print_warnings};

/// Length of a list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}

impl ListArgs {
    /// A list of everything.
    pub(crate) const ALL: Self = Self { limit: u32::MAX };
}

/// Lists the resources that match a filter.
pub(crate) async fn list(
    session: &Session<'_>,
    kind: &'static Kind,
    filter: Map<String, Json>,
    args: &ListArgs,
    output_args: &OutputArgs,
) -> Result<()> {
    let method = format!("{}{}", kind.service, kind.list_method);
    let doing = format!("listing {}s", kind.noun);
    let list = kind.lists.first().context("a kind has a list")?;
    let mut paging = Paging::up_to(args.limit);
    let (mut found, mut token, mut total) = (Vec::new(), String::new(), 0);
    while let Some(next) = paging.next(found.len(), &token) {
        let mut request = filter.clone();
        if kind.is_paged {
            request.insert("limit".to_owned(), json!(next.limit));
        }
        if let Some(token) = next.page_token {
            request.insert("pageToken".to_owned(), json!(token));
        }
        let mut page = session.call(&doing, &method, &Json::Object(request)).await?;
        page["nextPageToken"].as_str().unwrap_or_default().clone_into(&mut token);
        total = page["totalSize"].as_i64().unwrap_or_default();
        if let Some(Json::Array(part)) = page.get_mut(*list).map(Json::take) {
            found.extend(part);
        }
    }
    let answer = json!({ *list: found, "totalSize": total, "nextPageToken": token });
    if output_args.is_for_people() && std::ptr::eq(kind, &raw const COMPONENTS) {
        name_components(session, &mut found).await?;
    }
    let ids: Vec<&str> = found.iter().map(|it| kind.id_of(it)).collect();
    output_args.print(&answer, &ids, || show::table(kind.columns, &found))?;
    if output_args.is_for_people() {
        paging::hint(found.len(), total as i32);
    }
    Ok(())
}

/// Shows a resource.
pub(crate) async fn get(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &str,
    filter: &Map<String, Json>,
    output_args: &OutputArgs,
) -> Result<()> {
    let answer = read(session, kind, given, filter).await?;
    let resource = &answer[kind.json_field()];
    output_args.print(&answer, &[kind.id_of(resource)], || {
        kind.table
            .map_or_else(|| resource.to_string(), |table| output::table(&lines(table, resource)))
    })
}

/// Creates a resource from flags or JSON.
pub(crate) async fn create<S: FlagSource>(
    session: &Session<'_>,
    kind: &'static Kind,
    args: &InputArgs<S>,
) -> Result<()> {
    let doing = format!("creating the {}", kind.noun);
    let answer = send(session, kind, args, &doing, "Create", None).await?;
    let resource = &answer[kind.json_field()];
    let id = kind.id_of(resource);
    args.output_args.print(&answer, &[id], || {
        let name = kind.name_of(resource);
        if name.is_empty() {
            return format!("{id} was created");
        }
        format!("{id} was created: the {} `{}`", kind.noun, one_line(&name))
    })?;
    print_warnings(&answer);
    Ok(())
}

/// Changes the given arguments of a resource.
pub(crate) async fn update<S: FlagSource>(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &str,
    filter: &Map<String, Json>,
    args: &InputArgs<S>,
) -> Result<()> {
    if args.from_json.is_none() && args.flags.names.is_empty() {
        bail!("nothing to change; give a flag, which `--help` lists, or `--from-json FILE`");
    }
    let found = read(session, kind, given, filter).await?;
    let found = &found[kind.json_field()];
    let doing = format!("changing the {}", kind.noun);
    let answer = send(session, kind, args, &doing, "Update", Some(found)).await?;
    let id = kind.id_of(found);
    args.output_args.print(&answer, &[id], || format!("{id} was changed"))?;
    print_warnings(&answer);
    Ok(())
}

/// Deletes a resource after an agreement.
pub(crate) async fn delete(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &str,
    filter: &Map<String, Json>,
    deletion: DeletionArgs<'_>,
) -> Result<()> {
    let DeletionArgs { yes, output_args } = deletion;
    let found = read(session, kind, given, filter).await?;
    let found = &found[kind.json_field()];
    let id = kind.id_of(found);
    let object = NamedId { id: id.to_owned(), name: kind.name_of(found) };
    confirm_deletion(kind.noun, &object, yes)?;
    let doing = format!("deleting the {}", kind.noun);
    let answer = session.call(&doing, &kind.method("Delete"), &json!({ "id": id })).await?;
    output_args.print(&answer, &[id], || format!("{id} was deleted"))
}

/// Whether to delete without a question, and the format of the result.
#[derive(Debug)]
pub(crate) struct DeletionArgs<'a> {
    pub(crate) yes: bool,
    pub(crate) output_args: &'a OutputArgs,
}

/// Reads a resource as the service returns it.
pub(crate) async fn read(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &str,
    filter: &Map<String, Json>,
) -> Result<Json> {
    let id = id_within(session, kind, given, filter).await?;
    let doing = format!("reading the {}", kind.noun);
    session.call(&doing, &kind.method("Get"), &json!({ "id": id })).await
}

/// Sends the arguments. `found` is the resource to change.
async fn send<S: FlagSource>(
    session: &Session<'_>,
    kind: &'static Kind,
    args: &InputArgs<S>,
    doing: &str,
    verb: &str,
    found: Option<&Json>,
) -> Result<Json> {
    let field = kind.json_field();
    let method = kind.method(verb);
    if let Some(file) = &args.from_json {
        let mut request = json_input::read_request(file, &field)?;
        set_id(&mut request, &field, found.map(|found| kind.id_of(found)));
        return session.call(doing, &method, &Json::Object(request)).await;
    }
    let mut values = args.flags.values.clone();
    let page = found.and_then(|found| found["pageId"].as_str());
    if let Some(table) = kind.table {
        resolve(session, table, &mut values, page).await?;
    }
    let mut request = Map::from_iter([(field.clone(), Json::Object(values))]);
    if let Some(found) = found {
        let mask: Vec<String> = args.flags.names.iter().map(|name| json_name(name)).collect();
        request.insert("updateMask".to_owned(), json!(mask.join(",")));
        set_id(&mut request, &field, Some(kind.id_of(found)));
    }
    let explain = |error: &_| FieldFlags::<S>::explain(error, kind.field);
    session.call_with(doing, &method, &Json::Object(request), explain).await
}

fn set_id(request: &mut Map<String, Json>, field: &str, id: Option<&str>) {
    if let (Some(resource), Some(id)) = (request.get_mut(field).and_then(Json::as_object_mut), id) {
        resource.insert("id".to_owned(), json!(id));
    }
}
