//! Status reports, their updates and their templates (issue 7): no resources of the specification's, and
//! in no list of them.

use super::revision;
use crate::field::{Block, Field, Resource, Shape};
use crate::report::{Impact, ReportStatus};
use crate::{ComponentId, PageId, ReportId, TemplateId, UpdateId};

/// Longest text of an update, in characters (ours).
const TEXT_CHARS_MAX: u32 = 8_192;
/// Most components that one report is about (ours).
const COMPONENTS_MAX: u32 = 200;

const TITLE: Shape = Shape::Line { min: 1, max: 256 };
const STATUS: Shape = Shape::OneOf(ReportStatus::WORDS);
const TEXT: Shape = Shape::Text { min: 1, max: TEXT_CHARS_MAX };

/// Components with what is said of each.
const COMPONENTS: Block = Block {
    name: "components",
    max: Some(COMPONENTS_MAX),
    fields: &[
        Field::required(
            "component_id",
            Shape::Id(ComponentId::PREFIX),
            "Component that is concerned, at most once.",
        ),
        Field::required("impact", Shape::OneOf(Impact::WORDS), "How the component is meanwhile."),
    ],
    blocks: &[],
    description: "Components that it is about, and how each of them is.",
};

/// A report: what its owner says of a status page.
pub static STATUS_REPORT: Resource = Resource {
    name: "status_report",
    description: "What people say of an outage on a status page, update by update.",
    fields: &[
        Field::required("page_id", Shape::Id(PageId::PREFIX), "Status page that it stands on.")
            .replaces(),
        Field::required("title", TITLE, "What visitors read first, 1 to 256 characters."),
        Field::output("id", Shape::Id(ReportId::PREFIX), "Identifier of the report."),
        Field::output("status", STATUS, "How far it has come, by its latest update."),
        Field::output("started_at", Shape::Instant, "Time of its first update."),
        Field::output("resolved_at", Shape::Instant, "Time of its latest update, once resolved."),
        Field::output("created_at", Shape::Instant, "When the report was created."),
        Field::output("updated_at", Shape::Instant, "When the report was last changed."),
    ],
    beyond: &[revision::OUTPUT],
    blocks: &[COMPONENTS],
    rules: &[],
    import: None,
};

/// An update of a report.
pub static REPORT_UPDATE: Resource = Resource {
    name: "status_report_update",
    description: "What a report says from a moment on.",
    fields: &[
        Field::required("status", STATUS, "How far people have come."),
        Field::required("text", TEXT, "What is said, as Markdown, 1 to 8192 characters."),
        Field::optional(
            "at",
            Shape::Instant,
            "From when on it holds, not in the future; left out, from now on.",
        ),
        Field::output("id", Shape::Id(UpdateId::PREFIX), "Identifier of the update."),
        Field::output("notified", Shape::Bool, "Whether subscribers were to be told of it."),
        Field::output("created_at", Shape::Instant, "When the update was written."),
        Field::output("updated_at", Shape::Instant, "When the update was last edited."),
    ],
    beyond: &[],
    blocks: &[COMPONENTS],
    rules: &[],
    import: None,
};

/// A template: what a report may begin with.
pub static REPORT_TEMPLATE: Resource = Resource {
    name: "report_template",
    description: "What the reports of a workspace may begin with.",
    fields: &[
        Field::required("name", TITLE, "What people choose it by, 1 to 256 characters."),
        Field::optional("title", TITLE, "Title of the report, 1 to 256 characters."),
        Field::optional("status", STATUS, "Status of the first update."),
        Field::optional("text", TEXT, "Text of the first update, 1 to 8192 characters."),
        Field::output("id", Shape::Id(TemplateId::PREFIX), "Identifier of the template."),
        Field::output("created_at", Shape::Instant, "When the template was created."),
        Field::output("updated_at", Shape::Instant, "When the template was last changed."),
    ],
    beyond: &[revision::OUTPUT],
    blocks: &[COMPONENTS],
    rules: &[],
    import: None,
};
