//! The data source: the number of notes.

use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::{Attribute, Schema};
use terraform_plugin::{Context, Object, Outcome, Type};

use crate::store::Store;

pub(crate) struct Count;

impl DataSource for Count {
    type Client = Store;

    fn schema(&self) -> Schema {
        Schema::new("Counts the notes.")
            .attribute("least", Attribute::optional(Type::Number).default(0))
            .attribute("count_of_notes", Attribute::computed(Type::Number))
    }

    async fn read(&self, ctx: &Context<Store>, config: Object) -> Outcome<Object> {
        let count = ctx.client()?.ids()?.len() as u64;
        let least = config.get::<u64>("least")?;
        Ok(config.with("count_of_notes", count.max(least)))
    }
}
