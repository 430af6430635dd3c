//! The resource: a note that uses most features of schemas.

use terraform_plugin::resource::{Create, Identity, Import, Resource, State, Update};
use terraform_plugin::schema::{Attribute, Block, Nesting, Presence, Schema};
use terraform_plugin::{Context, Diagnostic, IntoValue, Object, Outcome, Type, Value, validate};

use crate::store::Store;

pub(crate) struct Note;

impl Resource for Note {
    type Client = Store;

    fn schema(&self) -> Schema {
        let length = Attribute::optional_computed(Type::Number)
            .describe("Lines of a page. By default twice its columns.")
            .derive(["columns"], |plan| {
                plan.get::<i64>("columns").map_or(Value::UNKNOWN, |it| (it * 2).into_value())
            });
        let title = Attribute::required(Type::String)
            .describe("The *headline*.")
            .validate(validate::length(1..=64));
        let style = Attribute::nested(
            Nesting::Single,
            Presence::Optional,
            [
                ("font", Attribute::required(Type::String)),
                ("size", Attribute::optional(Type::Number).default(12)),
            ],
        );
        Schema::new("A note.")
            .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
            .attribute("revision", Attribute::computed(Type::Number))
            .attribute("title", title)
            .attribute("text", Attribute::optional(Type::String))
            .attribute("pinned", Attribute::optional(Type::Bool).default(false))
            .attribute("columns", Attribute::optional(Type::Number).default(80))
            .attribute("lines", length)
            .attribute("ratio", Attribute::optional(Type::Number))
            .attribute("tags", Attribute::optional(Type::set(Type::String)))
            .attribute("shelf", Attribute::optional(Type::String).requires_replace())
            .attribute("secret", Attribute::optional(Type::String).sensitive())
            .attribute("pass_wo", Attribute::optional(Type::String).write_only())
            .attribute("extra", Attribute::optional(Type::Dynamic))
            .attribute("style", style)
            .block("line", part(Block::list(), label()).max_items(3))
            .block("mark", part(Block::set(), label().use_state_for_unknown()))
            .block("cover", part(Block::single(), label()))
            .check(validate::conflicting(["text", "line"]))
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity::new().required("id", Type::String, "The number of the note."))
    }

    async fn create(&self, ctx: &Context<Store>, create: Create) -> Outcome<State> {
        let object = settled(create.planned, 1);
        let (id, object) = ctx.client()?.add(object, &self.schema().ty())?;
        if create.config.get::<Option<String>>("pass_wo")?.as_deref() == Some("weak") {
            ctx.report(
                Diagnostic::warning("Weak pass", "the note uses it unchanged").at("pass_wo"),
            );
        }
        Ok(State::new(object).with_identity(Object::new().with("id", id)))
    }

    async fn read(&self, ctx: &Context<Store>, prior: State) -> Outcome<Option<State>> {
        let id = prior.values.get::<String>("id")?;
        let found = ctx.client()?.find(&id, &self.schema().ty())?;
        Ok(found
            .map(|values| State { values, ..prior }.with_identity(Object::new().with("id", id))))
    }

    async fn update(&self, ctx: &Context<Store>, update: Update) -> Outcome<State> {
        let revision = update.prior.values.get::<i64>("revision")? + 1;
        let object = settled(update.planned, revision);
        ctx.client()?.put(&object.get::<String>("id")?, &object, &self.schema().ty())?;
        Ok(State { values: object, ..update.prior })
    }

    async fn delete(&self, ctx: &Context<Store>, prior: State) -> Outcome<()> {
        Ok(ctx.client()?.remove(&prior.values.get::<String>("id")?)?)
    }

    async fn import(&self, ctx: &Context<Store>, import: Import) -> Outcome<State> {
        let id = match import {
            Import::Id(id) => id,
            Import::Identity(identity) => identity.get("id")?,
        };
        if ctx.client()?.find(&id, &self.schema().ty())?.is_none() {
            let detail = format!("note `{id}` not found");
            return Err(Diagnostic::error("Unknown note", detail).into());
        }
        let identity = Object::new().with("id", &id);
        Ok(State::new(Object::new().with("id", id)).with_identity(identity))
    }
}

fn label() -> Attribute {
    Attribute::computed(Type::String)
}

fn part(block: Block, label: Attribute) -> Block {
    block
        .attribute("key", Attribute::required(Type::String))
        .attribute("weight", Attribute::optional(Type::Number).default(1))
        .attribute("label", label)
}

/// Fills in the values that the service sets: the revision and the labels of the parts.
fn settled(planned: Object, revision: i64) -> Object {
    let mut object = planned.with("revision", revision);
    for name in ["line", "mark", "cover"] {
        let value = labelled(object.value(name));
        object.set(name, value);
    }
    object
}

fn labelled(value: &Value) -> Value {
    if let Some(part) = value.as_object() {
        let key = part.value("key").as_str().unwrap_or_default();
        return Value::Object(part.clone().with("label", format!("<{key}>")));
    }
    let parts = value.elements().iter().map(labelled);
    if value.is_null() {
        return Value::Null;
    }
    if matches!(value, Value::Set(_)) { Value::set(parts) } else { Value::list(parts) }
}
