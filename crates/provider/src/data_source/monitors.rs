//! `service_monitors`: a page of the monitors of the workspace (§2.8).

use rules::MonitorKind;
use rules::tables::MONITORS_DATA;
use serde_json::{Map, Value as Json};
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Object, Outcome, Value};

use super::check_arguments;
use crate::connection::{Connection, to_diagnostics};
use crate::schema;
use crate::service::text;
use crate::wire::elements;

const LIST: &str = "/monitor.v1.MonitorService/ListMonitors";
/// Fields of the response with the monitors of each kind.
const FIELDS: [(MonitorKind, &str); 3] = [
    (MonitorKind::Http, "httpMonitors"),
    (MonitorKind::Tcp, "tcpMonitors"),
    (MonitorKind::Dns, "dnsMonitors"),
];

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
        let mut request = Map::new();
        for name in ["limit", "offset"] {
            let given: Option<i32> = config.get(name)?;
            request.extend(given.map(|number| (name.to_owned(), number.into())));
        }
        let page = client.call(LIST, Json::Object(request)).await;
        let page = page.map_err(|failure| to_diagnostics("Cannot list the monitors", failure))?;
        let of_kind = |(kind, field): (MonitorKind, &str)| {
            let named = move |it: &Json| (text(&it["id"]), text(&it["name"]), kind);
            elements(&page[field]).iter().map(named).collect::<Vec<_>>()
        };
        let mut monitors: Vec<_> = FIELDS.into_iter().flat_map(of_kind).collect();
        // The service lists newest first, that is by descending id. It separates the kinds only to name them.
        monitors.sort_by(|one, other| other.0.cmp(&one.0));
        let object = |(id, name, kind): (String, String, MonitorKind)| {
            Object::new().with("id", id).with("name", name).with("type", kind.as_str())
        };
        Ok(config.with("monitors", Value::list(monitors.into_iter().map(object))))
    }
}
