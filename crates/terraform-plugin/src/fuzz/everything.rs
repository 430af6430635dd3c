//! A provider that uses every feature of schemas. Its objects equal their plans.

use crate::action::{Action, Progress};
use crate::data_source::DataSource;
use crate::ephemeral::{EphemeralResource, Opened};
use crate::function::{Arguments, Function, FunctionError, Parameter, Signature};
use crate::list::{Found, ListResource, Listing, Query};
use crate::resource::{Create, Identity, Import, Resource, State, Update};
use crate::schema::{Attribute, Block, Nesting, Presence, Schema};
use crate::{Catalog, Context, Object, Outcome, Private, Provider, Type, Value, validate};

/// Name of everything that it offers.
pub(super) const NAME: &str = "every_thing";

pub(crate) struct Everything;

impl Provider for Everything {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("Everything.").attribute("token", Attribute::optional(Type::String).sensitive())
    }

    async fn configure(&self, _: &Context<()>, _: Object) -> Outcome<()> {
        Ok(())
    }

    fn catalog(&self) -> Catalog<()> {
        Catalog::new()
            .resource(NAME, Thing)
            .data_source(NAME, Look)
            .ephemeral(NAME, Glance)
            .list(NAME, Search)
            .action(NAME, Push)
            .function(NAME, Echo)
    }
}

struct Thing;

/// Returns a schema with attributes and blocks of all kinds, with rules and defaults.
fn schema() -> Schema {
    let nested = |nesting| {
        let inside = [
            ("name", Attribute::required(Type::String).validate(validate::length(1..=4))),
            ("rank", Attribute::optional(Type::Number).default(1)),
        ];
        Attribute::nested(nesting, Presence::Optional, inside)
    };
    let block = |block: Block| {
        block
            .attribute("key", Attribute::required(Type::String))
            .attribute("kept", Attribute::computed(Type::Number).use_state_for_unknown())
    };
    Schema::new("A thing.")
        .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
        .attribute("text", Attribute::optional(Type::String).requires_replace())
        .attribute("number", Attribute::optional(Type::Number).default(7))
        .attribute("flag", Attribute::optional(Type::Bool))
        .attribute("list", Attribute::optional(Type::list(Type::Number)))
        .attribute("set", Attribute::optional(Type::set(Type::String)))
        .attribute("map", Attribute::optional(Type::map(Type::Dynamic)))
        .attribute("any", Attribute::optional(Type::Dynamic))
        .attribute("hidden", Attribute::optional(Type::String).sensitive())
        .attribute("unkept", Attribute::optional(Type::String).write_only())
        .attribute("single", nested(Nesting::Single))
        .attribute("row", nested(Nesting::List))
        .block("line", block(Block::list()).max_items(2))
        .block("mark", block(Block::set()))
        .check(validate::conflicting(["text", "flag"]))
}

impl Resource for Thing {
    type Client = ();

    fn schema(&self) -> Schema {
        schema()
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity::new().required("id", Type::String, "Its id."))
    }

    async fn create(&self, _: &Context<()>, create: Create) -> Outcome<State> {
        Ok(State::new(create.planned.with("id", "1")))
    }

    async fn read(&self, _: &Context<()>, prior: State) -> Outcome<Option<State>> {
        Ok(Some(prior))
    }

    async fn update(&self, _: &Context<()>, update: Update) -> Outcome<State> {
        Ok(State::new(update.planned))
    }

    async fn delete(&self, _: &Context<()>, _: State) -> Outcome<()> {
        Ok(())
    }

    async fn import(&self, _: &Context<()>, import: Import) -> Outcome<State> {
        let id = match import {
            Import::Id(id) => id,
            Import::Identity(identity) => identity.get("id")?,
        };
        Ok(State::new(Object::new().with("id", id)))
    }
}

struct Look;

impl DataSource for Look {
    type Client = ();

    fn schema(&self) -> Schema {
        schema()
    }

    async fn read(&self, _: &Context<()>, config: Object) -> Outcome<Object> {
        Ok(config)
    }
}

struct Glance;

impl EphemeralResource for Glance {
    type Client = ();

    fn schema(&self) -> Schema {
        schema()
    }

    async fn open(&self, _: &Context<()>, config: Object) -> Outcome<Opened> {
        Ok(Opened::new(config))
    }

    async fn close(&self, _: &Context<()>, _: Private) -> Outcome<()> {
        Ok(())
    }
}

struct Search;

impl ListResource for Search {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("Searches.").attribute("text", Attribute::optional(Type::String).default("x"))
    }

    async fn list(&self, _: &Context<()>, query: Query, found: &Listing) -> Outcome<()> {
        let id = query.config.get::<String>("text")?;
        found.send(Found::new(&id, Object::new().with("id", &id))).await;
        Ok(())
    }
}

struct Push;

impl Action for Push {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("Pushes.").attribute("any", Attribute::optional(Type::Dynamic))
    }

    async fn invoke(&self, _: &Context<()>, config: Object, progress: &Progress) -> Outcome<()> {
        progress.report(format!("{config:?}")).await;
        Ok(())
    }
}

struct Echo;

impl Function for Echo {
    fn signature(&self) -> Signature {
        Signature::new("Returns its argument.", Type::Dynamic)
            .parameter("any", Type::Dynamic, "Value to return.")
            .variadic(Parameter::new("number", Type::Number, "How often."))
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        arguments.get(0)
    }
}
