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
        let offset: Option<i32> = config.get("offset")?;
        let mut monitors = Vec::new();
        let (mut token, mut next) = (String::new(), Some(first_page(limit, offset)));
        // The service ends a page early if its monitors are large.
        while let Some(request) = next {
            let page = client.call(LIST, request).await;
            let page = page.map_err(|failure| to_diagnostics(DOING, failure))?;
            monitors.extend(MonitorKind::ALL.iter().flat_map(|kind| named(&page, *kind)));
            let further = next_token(&token, text(&page["nextPageToken"]));
            let further = further.map_err(|detail| Diagnostic::error(DOING, detail))?;
            let left = limit.saturating_sub(monitors.len());
            token = further.unwrap_or_default();
            let more = left > 0 && !token.is_empty();
            next = more.then(|| json!({ "limit": left, "pageToken": token }));
        }
        // The service lists newest first, that is by descending id. It separates the kinds only to name them.
        monitors.sort_by(|one, other| other.0.cmp(&one.0));
        let object = |(id, name, kind): (String, String, MonitorKind)| {
            Object::new().with("id", id).with("name", name).with("type", kind.as_str())
        };
        Ok(config.with("monitors", Value::list(monitors.into_iter().map(object))))
    }
}

/// Returns the request for the first page. Only it skips monitors.
fn first_page(limit: usize, offset: Option<i32>) -> Json {
    match offset {
        Some(offset) => json!({ "limit": limit, "offset": offset }),
        None => json!({ "limit": limit }),
    }
}

/// Returns the ID, name and kind of each monitor of one kind on a page.
fn named(page: &Json, kind: MonitorKind) -> Vec<(String, String, MonitorKind)> {
    let named = |it: &Json| (text(&it["id"]), text(&it["name"]), kind);
    elements(&page[list_field(kind)]).iter().map(named).collect()
}
