//! The list resource: all notes, or those whose title has a given prefix.

use terraform_plugin::list::{Found, ListResource, Listing, Query};
use terraform_plugin::resource::Resource;
use terraform_plugin::schema::{Attribute, Schema};
use terraform_plugin::{Context, Object, Outcome, Type};

use crate::note::Note;
use crate::store::Store;

pub(crate) struct Notes;

impl ListResource for Notes {
    type Client = Store;

    fn schema(&self) -> Schema {
        let prefix = Attribute::optional(Type::String).default("");
        Schema::new("Finds notes.").attribute("prefix", prefix)
    }

    async fn list(&self, ctx: &Context<Store>, query: Query, found: &Listing) -> Outcome<()> {
        let prefix = query.config.get::<String>("prefix")?;
        let (store, ty) = (ctx.client()?, Note.schema().ty());
        for id in store.ids()? {
            let Some(note) = store.find(&id, &ty)? else { continue };
            let title = note.get::<String>("title")?;
            if !title.starts_with(&prefix) {
                continue;
            }
            let identity = Object::new().with("id", id);
            if !found.send(Found::new(title, identity).with_resource(note)).await {
                break;
            }
        }
        Ok(())
    }
}
