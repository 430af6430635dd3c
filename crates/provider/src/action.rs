//! `service_monitor_trigger`: checks a monitor now in each of its regions, and reports the results.

use rules::MonitorId;
use rules::field::{Field, Resource, Shape};
use serde_json::{Value as Json, json};
use terraform_plugin::action::{Action, Progress};
use terraform_plugin::schema::{Attribute, Schema};
use terraform_plugin::{Context, Diagnostic, Object, Outcome, Type};

use crate::connection::{Connection, to_diagnostics};
use crate::schema;
use crate::service::text;
use crate::validate::check_arguments;
use crate::wire::elements;

const TRIGGER: &str = "/monitor.v1.MonitorService/TriggerMonitor";

/// The outcome of a failed check.
const FAILURE: &str = "failure";

static ARGUMENTS: Resource = Resource {
    name: "service_monitor_trigger",
    description: "Checks a monitor now in each of its regions. The results are kept, and change \
                  neither its status nor its rhythm.",
    fields: &[Field::required("id", Shape::Id(MonitorId::PREFIX), "Identifier of the monitor.")],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// Triggers a monitor.
#[derive(Debug)]
pub struct Trigger;

impl Action for Trigger {
    type Client = Connection;

    fn schema(&self) -> Schema {
        let must_succeed = Attribute::optional(Type::Bool).describe(
            "Whether the action fails if the check fails in any region. By default it only reports the failure.",
        );
        schema::schema(&ARGUMENTS).attribute("must_succeed", must_succeed)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        check_arguments(&ARGUMENTS, config)
    }

    async fn invoke(
        &self,
        ctx: &Context<Connection>,
        config: Object,
        progress: &Progress,
    ) -> Outcome<()> {
        let client = ctx.client()?.client()?.with_cancellation(ctx.cancelled());
        let id: String = config.get("id")?;
        let must_succeed: Option<bool> = config.get("must_succeed")?;
        let answer = client.call_once(TRIGGER, json!({ "id": id })).await;
        let answer =
            answer.map_err(|failure| to_diagnostics("Cannot trigger the monitor", failure))?;
        let results = elements(&answer["results"]);
        for result in results {
            progress.report(line(result)).await;
        }
        let failed: Vec<_> = results.iter().filter(|it| it["outcome"] == FAILURE).collect();
        if must_succeed == Some(true) && !failed.is_empty() {
            let lines: Vec<_> = failed.into_iter().map(line).collect();
            return Err(Diagnostic::error("The check failed", lines.join("\n")).into());
        }
        Ok(())
    }
}

/// Formats a result: `fly-ams: failure in 120 ms: status is 500`.
fn line(result: &Json) -> String {
    let latency_ms = result["latencyMs"].as_i64().unwrap_or_default();
    let (region, outcome) = (text(&result["region"]), text(&result["outcome"]));
    let mut line = format!("{region}: {outcome} in {latency_ms} ms");
    let reasons: Vec<_> = elements(&result["reasons"]).iter().map(text).collect();
    if !reasons.is_empty() {
        line.push_str(": ");
        line.push_str(&reasons.join("; "));
    }
    line
}
