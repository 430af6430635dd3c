//! `service_notification` and `service_status_page`: one resource by its ID (§2.8).

use rules::field::Resource;
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Object, Outcome};

use crate::connection::{Connection, to_diagnostics};
use crate::service::{Id, Service};
use crate::validate::check_arguments;
use crate::{schema, wire};

/// Reads one resource.
#[derive(Debug)]
pub struct SingleData {
    pub table: &'static Resource,
    pub service: &'static Service,
}

impl DataSource for SingleData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(self.table)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        check_arguments(self.table, config)
    }

    async fn read(&self, ctx: &Context<Connection>, config: Object) -> Outcome<Object> {
        let client = ctx.client()?.client()?;
        let id = Id { id: config.get("id")?, page_id: None };
        let doing = || format!("Cannot read the {}", self.service.noun);
        let answer = self.service.get(client, id).await;
        let answer = answer.map_err(|failure| to_diagnostics(&doing(), failure))?;
        Ok(wire::decode(self.table, &answer.resource))
    }
}
