//! `service_workspace`: the workspace of the key with its limits and usage. Our own addition.

use rules::field::{Field, Resource, Shape};
use rules::tables::WORKSPACE;
use serde_json::{Value as Json, json};
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Object, Outcome};

use crate::connection::{Connection, to_diagnostics};
use crate::{schema, wire};

const GET: &str = "/workspace.v1.WorkspaceService/GetWorkspace";

/// Shape of counts.
const COUNT: Shape = Shape::Integer { min: 0, max: i32::MAX };
/// Shape of a period, such as `1m`.
const PERIOD: Shape = Shape::Line { min: 0, max: u32::MAX };

/// The workspace of the key.
pub(super) static WORKSPACE_DATA: Resource = Resource {
    name: "service_workspace",
    description: "Returns the workspace of the key, with the limits of its plan and its usage.",
    fields: &[
        Field::output("id", WORKSPACE.shape_of("id"), "Identifier of the workspace."),
        Field::output("name", WORKSPACE.shape_of("name"), "Name of the workspace."),
        Field::output("slug", WORKSPACE.shape_of("slug"), "Slug of the workspace."),
        Field::output("plan", WORKSPACE.shape_of("plan"), "Plan of the workspace."),
        Field::output(
            "uptime_target",
            Shape::Line { min: 1, max: 8 },
            "Target for uptime in percent, such as `99.9`.",
        ),
        Field::output("created_at", Shape::Instant, "When the workspace was created."),
        Field::output(
            "deletes_at",
            Shape::Instant,
            "When the workspace is deleted; null unless its deletion is scheduled.",
        ),
        Field::output(
            "limits",
            Shape::ListOf(&[
                Field::output("monitors", COUNT, "Maximum number of monitors."),
                Field::output("shortest_period", PERIOD, "Shortest period of a monitor."),
                Field::output("status_pages", COUNT, "Maximum number of status pages."),
                Field::output("notifications", COUNT, "Maximum number of notification channels."),
                Field::output("retention_days", COUNT, "Maximum retention of results, in days."),
            ]),
            "Limits of the plan, one object. A null limits nothing.",
        ),
        Field::output(
            "usage",
            Shape::ListOf(&[
                Field::output("monitors", COUNT, "Number of monitors, including paused ones."),
                Field::output(
                    "shortest_period",
                    PERIOD,
                    "Shortest period of a monitor; null without monitors.",
                ),
                Field::output("status_pages", COUNT, "Number of status pages."),
                Field::output("notifications", COUNT, "Number of notification channels."),
                Field::output("retention_days", COUNT, "Retention of results, in days."),
            ]),
            "Usage of the same quantities, one object.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// Reads the workspace of the key.
#[derive(Debug)]
pub struct WorkspaceData;

impl DataSource for WorkspaceData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(&WORKSPACE_DATA)
    }

    async fn read(&self, ctx: &Context<Connection>, _: Object) -> Outcome<Object> {
        let reply = ctx.client()?.client()?.call(GET, json!({})).await;
        let mut reply =
            reply.map_err(|failure| to_diagnostics("Cannot read the workspace", failure))?;
        let workspace = &mut reply["workspace"];
        for name in ["limits", "usage"] {
            let one = workspace[name].take();
            workspace[name] = Json::Array(vec![one]);
        }
        Ok(wire::decode(&WORKSPACE_DATA, workspace))
    }
}
