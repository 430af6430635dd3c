//! A provider with slow operations. It shows what happens when Terraform asks it to stop, because a
//! person pressed Ctrl-C. The framework cancels operations that only read. An operation that
//! creates something must watch the context itself and return what it has created so far, so that
//! Terraform knows about it.

use std::process::ExitCode;
use std::time::Duration;

use terraform_plugin::data_source::DataSource;
use terraform_plugin::resource::{Create, Resource, State, Update};
use terraform_plugin::schema::{Attribute, Schema};
use terraform_plugin::{Catalog, Context, Diagnostic, Object, Outcome, Provider, Type, serve};

fn main() -> ExitCode {
    serve("registry.terraform.io/example/oven", Oven)
}

struct Oven;

impl Provider for Oven {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("Bakes.")
    }

    async fn configure(&self, _: &Context<()>, _: Object) -> Outcome<()> {
        Ok(())
    }

    fn catalog(&self) -> Catalog<()> {
        Catalog::new().resource("oven_cake", Cake).data_source("oven_smell", Smell)
    }
}

/// A cake that takes as long to bake as the configuration says.
struct Cake;

impl Resource for Cake {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("A cake.")
            .attribute("minutes", Attribute::required(Type::Number).requires_replace())
            .attribute("done", Attribute::computed(Type::Bool).use_state_for_unknown())
    }

    async fn create(&self, ctx: &Context<()>, create: Create) -> Outcome<State> {
        let minutes = create.planned.get::<u64>("minutes")?;
        tracing::info!(minutes, "baking");
        let baked = tokio::time::sleep(Duration::from_secs(minutes.saturating_mul(60)));
        let done = ctx.cancelled().run_until_cancelled(baked).await.is_some();
        if !done {
            let detail = "The unfinished cake is in the oven. The next apply bakes another one.";
            ctx.report(Diagnostic::error("Baking was stopped", detail));
        }
        // Together with an error, Terraform records the object as tainted.
        Ok(State::new(create.planned.with("done", done)))
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
}

/// The smell of a cake. Reading it never finishes.
struct Smell;

impl DataSource for Smell {
    type Client = ();

    fn schema(&self) -> Schema {
        Schema::new("A smell.").attribute("sweet", Attribute::computed(Type::Bool))
    }

    async fn read(&self, _: &Context<()>, _: Object) -> Outcome<Object> {
        tracing::info!("sniffing");
        std::future::pending().await
    }
}
