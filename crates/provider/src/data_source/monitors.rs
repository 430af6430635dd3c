//! `service_monitors`: the monitors of the workspace, up to a limit (§2.8).

use rules::tables::MONITORS_DATA;
use rules::{MonitorKind, limits};
use serde_json::{Value as Json, json};
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Diagnostic, Object, Outcome, Value};

use crate::connection::{Connection, to_diagnostics};
use crate::schema;
use crate::service::{list_field, next_token, text};
use crate::validate::check_arguments;
use crate::wire::elements;

const LIST: &str = "/monitor.v1.MonitorService/ListMonitors";
/// Action that a failure prevents.
const DOING: &str = "Cannot list the monitors";
/// Lists monitors.
#[derive(Debug)]
pub struct MonitorsData;

impl DataSource for MonitorsData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(&MONITORS_DATA)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        check_arguments(&MONITORS_DATA, config)
    }

    async fn read(&self, ctx: &Context<Connection>, config: Object) -> Outcome<Object> {
        let client = ctx.client()?.client()?;
        let limit: Option<i32> = config.get("limit")?;
        let limit = limit.map_or(limits::LIST_LIMIT_DEFAULT as usize, |limit| limit as usize);
        let first = first_page(limit, config.get("offset")?, config.get("tags")?);
        let filter = first["tags"].clone();
        let mut monitors = Vec::new();
        let (mut token, mut next) = (String::new(), Some(first));
        // The service ends a page early if its monitors are large.
        while let Some(request) = next {
            let page = client.call(LIST, request).await;
            let page = page.map_err(|failure| to_diagnostics(DOING, failure))?;
            monitors.extend(MonitorKind::ALL.iter().flat_map(|kind| listed(&page, *kind)));
            let further = next_token(&token, text(&page["nextPageToken"]));
            let further = further.map_err(|detail| Diagnostic::error(DOING, detail))?;
            let left = limit.saturating_sub(monitors.len());
            token = further.unwrap_or_default();
            let more = left > 0 && !token.is_empty();
            next = more.then(|| json!({ "limit": left, "pageToken": token, "tags": filter }));
        }
        // The service lists newest first, that is by descending id. It separates the kinds only to name them.
        monitors.sort_by(|one, other| other.id.cmp(&one.id));
        Ok(config.with("monitors", Value::list(monitors.into_iter().map(Listed::object))))
    }
}

/// A monitor of the list.
struct Listed {
    id: String,
    name: String,
    kind: MonitorKind,
    tags: Vec<String>,
}

impl Listed {
    fn object(self) -> Object {
        Object::new()
            .with("id", self.id)
            .with("name", self.name)
            .with("type", self.kind.as_str())
            .with("tags", Value::set(self.tags))
    }
}

/// Returns the request for the first page. Only it skips monitors.
fn first_page(limit: usize, offset: Option<i32>, tags: Option<Vec<String>>) -> Json {
    let mut request = json!({ "limit": limit, "tags": tags.unwrap_or_default() });
    if let Some(offset) = offset {
        request["offset"] = offset.into();
    }
    request
}

/// Returns the monitors of one kind on a page.
fn listed(page: &Json, kind: MonitorKind) -> Vec<Listed> {
    let listed = |it: &Json| Listed {
        id: text(&it["id"]),
        name: text(&it["name"]),
        kind,
        tags: elements(&it["tags"]).iter().map(text).collect(),
    };
    elements(&page[list_field(kind)]).iter().map(listed).collect()
}
