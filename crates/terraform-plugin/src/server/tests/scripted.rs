//! A provider with one resource whose behaviour is set by its configuration.

use crate::resource::{Create, Identity, Move, Plan, Resource, State, Update, Upgrade};
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type};
use crate::{Catalog, Context, Diagnostic, Outcome, Private, Provider, Value};

pub(super) const NAME: &str = "scripted_thing";

pub(super) struct Scripted;

impl Provider for Scripted {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("Follows a script.")
    }

    fn catalog(&self) -> Catalog<()> {
        Catalog::new().resource(NAME, Self)
    }

    async fn configure(&self, _: &Context<()>, _: Object) -> Outcome<()> {
        Ok(())
    }
}

impl Resource for Scripted {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("Follows a script.")
            .version(2)
            .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
            .attribute("revision", Attribute::computed(Type::Number))
            .attribute("script", Attribute::required(Type::String))
            .attribute("size", Attribute::optional_computed(Type::Number).default(3))
            .attribute("pass_wo", Attribute::optional(Type::String).write_only())
            .block("rows", Block::list().attribute("key", Attribute::required(Type::String)))
    }

    fn identity(&self) -> Option<Identity> {
        let identity = Identity::new().version(1).required("id", Type::String, "Its number.");
        Some(identity.upgrade(0, |old| Ok(Object::new().with("id", old["number"].to_string()))))
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        let first = Schema::new("Earlier schema.")
            .version(1)
            .attribute("id", Attribute::computed(Type::String))
            .attribute("name", Attribute::required(Type::String))
            .attribute("size", Attribute::optional(Type::Number));
        let by_schema = |mut old: Object| {
            let name = old.remove("name").unwrap_or_default();
            Ok(old.with("script", name))
        };
        let raw = |old: serde_json::Value| {
            let script = old["whatever"]["it"].as_str().unwrap_or_default();
            Ok(Object::new().with("id", "1").with("script", script).with("size", 5))
        };
        vec![Upgrade::new(first, by_schema), Upgrade::raw(0, raw)]
    }

    async fn plan(&self, _: &Context<()>, plan: &mut Plan) -> Outcome<()> {
        if plan.config.value("script").as_str() == Some("drift") {
            plan.planned.set("size", 99);
        }
        Ok(())
    }

    async fn create(&self, ctx: &Context<()>, create: Create) -> Outcome<State> {
        act(ctx, create.planned)
    }

    async fn read(&self, _: &Context<()>, prior: State) -> Outcome<Option<State>> {
        Ok(Some(prior))
    }

    async fn update(&self, ctx: &Context<()>, update: Update) -> Outcome<State> {
        act(ctx, update.planned)
    }

    async fn delete(&self, ctx: &Context<()>, prior: State) -> Outcome<()> {
        act(ctx, prior.values).map(drop)
    }

    async fn move_state(&self, _: &Context<()>, from: Move) -> Outcome<Option<State>> {
        let script = from.state["label"].as_str().unwrap_or_default();
        let values = Object::new().with("id", "1").with("script", script);
        Ok((from.resource == "other_thing").then(|| State::new(values)))
    }
}

fn act(ctx: &Context<()>, planned: Object) -> Outcome<State> {
    let script: String = planned.get("script")?;
    let done = planned.with("id", "1").with("revision", 1);
    match script.as_str() {
        "panic" => panic!("as told"),
        "fail" => return Err(Diagnostic::error("No", "as told").into()),
        "half" => ctx.report(Diagnostic::error("Half made", "as told")),
        "lie" => return Ok(State::new(done.with("size", 4))),
        "unsure" => return Ok(State::new(done.with("revision", Value::UNKNOWN))),
        "stray" => return Ok(State::new(done.with("colour", "red"))),
        "private" => {
            let mut private = Private::default();
            private.set("mine", true);
            return Ok(State::new(done).with_private(private));
        }
        "nobody" => {
            let identity = Some(Object::new().with("id", vec!["1"]));
            return Ok(State { identity, ..State::new(done) });
        }
        _fine => {}
    }
    Ok(State::new(done))
}
