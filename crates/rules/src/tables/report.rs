//! Status reports, their updates and templates (issue 7): our additions, so not in the lists of
//! resources.

use super::revision;
use crate::enums::{Impact, ReportStatus};
use crate::field::{Block, Field, Resource, Shape};
use crate::{ComponentId, PageId, ReportId, TemplateId, UpdateId};

/// Maximum length of an update's text, in characters (ours).
const TEXT_CHARS_MAX: u32 = 8_192;
/// Maximum number of components of one report (ours).
const COMPONENTS_MAX: u32 = 200;

const TITLE: Shape = Shape::Line { min: 1, max: 256 };
const STATUS: Shape = Shape::OneOf(ReportStatus::WORDS);
const TEXT: Shape = Shape::Text { min: 1, max: TEXT_CHARS_MAX };

/// The affected components.
const COMPONENTS: Block = Block {
    name: "components",
    max: Some(COMPONENTS_MAX),
    fields: &[
        Field::required(
            "component_id",
            Shape::Id(ComponentId::PREFIX),
            "Affected component; each at most once.",
        ),
        Field::required("impact", Shape::OneOf(Impact::WORDS), "Impact on the component."),
    ],
    blocks: &[],
    description: "Affected components, with the impact on each.",
};

/// A status report on a page.
pub static STATUS_REPORT: Resource = Resource {
    name: "status_report",
    description: "A report about an outage on a status page, with its updates.",
    fields: &[
        Field::required("page_id", Shape::Id(PageId::PREFIX), "Status page of the report.")
            .replaces(),
        Field::required("title", TITLE, "Title for visitors, 1 to 256 characters."),
        Field::output("id", Shape::Id(ReportId::PREFIX), "Identifier of the report."),
        Field::output("status", STATUS, "Status of the latest update."),
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
    description: "An update of a status report.",
    fields: &[
        Field::required("status", STATUS, "Status of the report from this update on."),
        Field::required("text", TEXT, "Text in Markdown, 1 to 8192 characters."),
        Field::optional(
            "at",
            Shape::Instant,
            "Time from which it applies, not in the future; default: now.",
        ),
        Field::output("id", Shape::Id(UpdateId::PREFIX), "Identifier of the update."),
        Field::output("notified", Shape::Bool, "Whether subscribers were to be notified."),
        Field::output("created_at", Shape::Instant, "When the update was created."),
        Field::output("updated_at", Shape::Instant, "When the update was last edited."),
    ],
    beyond: &[],
    blocks: &[COMPONENTS],
    rules: &[],
    import: None,
};

/// A template of status reports.
pub static REPORT_TEMPLATE: Resource = Resource {
    name: "report_template",
    description: "Default values for reports of a workspace.",
    fields: &[
        Field::required("name", TITLE, "Name of the template, 1 to 256 characters."),
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
