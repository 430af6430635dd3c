//! `service_whoami`: the workspace and the scope of the key (§4.1). Our own addition as a data source.

use rules::field::{Field, Resource, Shape};
use rules::tables::WORKSPACE;
use rules::{KeyId, Scope};
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Object, Outcome, Value};

use crate::connection::{Connection, to_diagnostics};
use crate::schema;

/// The identity of the key.
pub(super) static WHOAMI_DATA: Resource = Resource {
    name: "service_whoami",
    description: "Returns the workspace and the scope of the key.",
    fields: &[
        Field::output("name", WORKSPACE.shape_of("name"), "Name of the workspace."),
        Field::output("slug", WORKSPACE.shape_of("slug"), "Slug of the workspace."),
        Field::output("plan", WORKSPACE.shape_of("plan"), "Plan of the workspace."),
        Field::output(
            "key_id",
            Shape::Id(KeyId::PREFIX),
            "Identifier of the key; not the key itself.",
        ),
        Field::output("scopes", Shape::SetOf(Scope::WORDS), "Scopes of the key."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// Reads the identity of the key.
#[derive(Debug)]
pub struct WhoamiData;

impl DataSource for WhoamiData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(&WHOAMI_DATA)
    }

    async fn read(&self, ctx: &Context<Connection>, config: Object) -> Outcome<Object> {
        let who = ctx.client()?.client()?.whoami().await;
        let who =
            who.map_err(|failure| to_diagnostics("Cannot read the workspace of the key", failure))?;
        Ok(config
            .with("name", who.name)
            .with("slug", who.slug)
            .with("plan", who.plan)
            .with("key_id", who.actor.key_id)
            .with("scopes", Value::set(who.actor.scopes)))
    }
}
