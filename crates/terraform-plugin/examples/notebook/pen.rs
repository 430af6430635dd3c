//! Things without a state: an ephemeral key for one run, and an action that stamps a note.

use std::time::{Duration, UNIX_EPOCH};

use terraform_plugin::action::{Action, Progress};
use terraform_plugin::ephemeral::{EphemeralResource, Opened};
use terraform_plugin::resource::Resource;
use terraform_plugin::schema::{Attribute, Schema};
use terraform_plugin::{Context, Diagnostic, Object, Outcome, Private, Type};

use crate::note::Note;
use crate::store::Store;

pub(crate) struct Key;

impl EphemeralResource for Key {
    type Client = Store;

    fn schema(&self) -> Schema {
        Schema::new("A key for one run.")
            .attribute("length", Attribute::optional(Type::Number).default(8))
            .attribute("key", Attribute::computed(Type::String).sensitive())
    }

    async fn open(&self, _: &Context<Store>, config: Object) -> Outcome<Opened> {
        let key = "k".repeat(config.get::<u16>("length")?.into());
        let mut opened = Opened::new(config.with("key", key));
        opened.private.set("lock", 7);
        // Far in the future: every run ends before the key must be renewed.
        opened.renew_at = Some(UNIX_EPOCH + Duration::from_hours(9_028_800));
        Ok(opened)
    }

    async fn close(&self, _: &Context<Store>, private: Private) -> Outcome<()> {
        if private.get::<u8>("lock") == Some(7) {
            return Ok(());
        }
        Err(Diagnostic::error("Unknown lock", "no lock accepts this key").into())
    }
}

pub(crate) struct Stamp;

impl Action for Stamp {
    type Client = Store;

    fn schema(&self) -> Schema {
        Schema::new("Stamps a note.")
            .attribute("id", Attribute::required(Type::String))
            .attribute("stamp", Attribute::optional(Type::String).default("seen"))
    }

    async fn invoke(
        &self,
        ctx: &Context<Store>,
        config: Object,
        progress: &Progress,
    ) -> Outcome<()> {
        let (id, stamp) = (config.get::<String>("id")?, config.get::<String>("stamp")?);
        let (store, ty) = (ctx.client()?, Note.schema().ty());
        progress.report(format!("looking for note {id}")).await;
        let Some(note) = store.find(&id, &ty)? else {
            return Err(Diagnostic::error("Unknown note", "note not found").at("id").into());
        };
        progress.report(format!("stamping it with {stamp}")).await;
        Ok(store.put(&id, &note.with("text", stamp), &ty)?)
    }
}
