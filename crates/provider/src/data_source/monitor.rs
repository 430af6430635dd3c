//! `service_monitor`: one monitor of any kind (§2.8).

use rules::tables::MONITOR_DATA;
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Object, Outcome};

use crate::connection::{Connection, to_diagnostics};
use crate::service::get_any_monitor;
use crate::validate::check_arguments;
use crate::{schema, wire};

/// Reads one monitor.
#[derive(Debug)]
pub struct MonitorData;

impl DataSource for MonitorData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(&MONITOR_DATA)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        check_arguments(&MONITOR_DATA, config)
    }

    async fn read(&self, ctx: &Context<Connection>, config: Object) -> Outcome<Object> {
        let client = ctx.client()?.client()?;
        let found = get_any_monitor(client, &config.get::<String>("id")?).await;
        let (kind, json) =
            found.map_err(|failure| to_diagnostics("Cannot read the monitor", failure))?;
        Ok(wire::decode(&MONITOR_DATA, &json).with("type", kind.as_str()))
    }
}
