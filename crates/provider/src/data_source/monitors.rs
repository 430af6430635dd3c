//! `service_monitors`: the monitors of the workspace, a page of them (§2.8).

use contract::monitor::wire::ListMonitorsRequest;
use contract::rpc::{self, CallOptions};
use rules::MonitorKind;
use rules::tables::MONITORS_DATA;
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Object, Outcome, Value};

use super::held;
use crate::connection::{Connection, told};
use crate::schema;

/// Lists monitors.
#[derive(Debug)]
pub struct MonitorsData;

impl DataSource for MonitorsData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(&MONITORS_DATA)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        held(&MONITORS_DATA, config)
    }

    async fn read(&self, ctx: &Context<Connection>, config: Object) -> Outcome<Object> {
        let client = ctx.client()?.client()?;
        let (limit, offset) = (config.get("limit")?, config.get("offset")?);
        let call = move |services: rpc::Client, options: CallOptions| {
            let request = ListMonitorsRequest { limit, offset, ..Default::default() };
            async move {
                let answer = services.monitors.list_monitors_with_options(request, options).await?;
                Ok(answer.into_owned())
            }
        };
        let page = client.call(call).await;
        let page = page.map_err(|failure| told("Cannot list the monitors", failure))?;
        let http = page.http_monitors.into_iter().map(|it| (it.id, it.name, MonitorKind::Http));
        let tcp = page.tcp_monitors.into_iter().map(|it| (it.id, it.name, MonitorKind::Tcp));
        let dns = page.dns_monitors.into_iter().map(|it| (it.id, it.name, MonitorKind::Dns));
        let mut monitors: Vec<_> = http.chain(tcp).chain(dns).collect();
        // The service lists by id, and sorts by kind only to name them.
        monitors.sort_by(|one, other| one.0.cmp(&other.0));
        let object = |(id, name, kind): (Option<String>, Option<String>, MonitorKind)| {
            Object::new().with("id", id).with("name", name).with("type", kind.as_str())
        };
        Ok(config.with("monitors", Value::list(monitors.into_iter().map(object))))
    }
}
