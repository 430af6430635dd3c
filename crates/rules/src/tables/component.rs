//! `service_status_page_component` (§2.6) and `service_status_page_component_group` (§2.7).

use super::revision;
use crate::field::{Field, Resource, Rule, Shape};
use crate::{ComponentId, ComponentType, GroupId, MonitorId, PageId};

/// Positions on a page: any 32-bit number, lower ones first; the specification sets no bounds.
const PLACE: Shape = Shape::Integer { min: i32::MIN, max: i32::MAX };

/// A component of a status page (§2.6).
pub static STATUS_PAGE_COMPONENT: Resource = Resource {
    name: "service_status_page_component",
    description: "One line of a status page: the status of a monitor, or of status reports.",
    fields: &[
        PAGE_ID,
        Field::required(
            "type",
            Shape::OneOf(ComponentType::WORDS),
            "Content of the component: the status of a monitor, or only status reports.",
        )
        .replaces(),
        Field::optional(
            "monitor_id",
            Shape::Id(MonitorId::PREFIX),
            "Monitor whose status is shown; required when type is monitor.",
        ),
        Field::optional(
            "name",
            Shape::Line { min: 0, max: 256 },
            "Name on the page, at most 256 characters. Required when type is static; otherwise the monitor's name is the default.",
        ),
        Field::optional(
            "description",
            Shape::Text { min: 0, max: 1_024 },
            "Description for visitors; at most 1024 characters.",
        ),
        Field::optional("order", PLACE, "Position on the page; lower ones come first."),
        Field::optional(
            "group_id",
            Shape::Id(GroupId::PREFIX),
            "Component group that the component belongs to.",
        ),
        Field::optional("group_order", PLACE, "Position within its group; lower ones come first."),
        Field::output("id", Shape::Id(ComponentId::PREFIX), "Identifier of the component."),
        Field::output("created_at", Shape::Instant, "When the component was created."),
        Field::output("updated_at", Shape::Instant, "When the component was last changed."),
    ],
    beyond: &[revision::OUTPUT],
    blocks: &[],
    rules: &[
        Rule::RequiredWhen { field: "monitor_id", when: "type", is: "monitor" },
        Rule::RequiredWhen { field: "name", when: "type", is: "static" },
    ],
    import: Some("<page_id>/<component_id>"),
};

/// A group of components of a status page (§2.7).
pub static STATUS_PAGE_COMPONENT_GROUP: Resource = Resource {
    name: "service_status_page_component_group",
    description: "A named group of components on a status page.",
    fields: &[
        PAGE_ID,
        Field::required(
            "name",
            Shape::Line { min: 1, max: 256 },
            "Name of the group, 1 to 256 characters.",
        ),
        Field::output("id", Shape::Id(GroupId::PREFIX), "Identifier of the group."),
        Field::output("created_at", Shape::Instant, "When the group was created."),
        Field::output("updated_at", Shape::Instant, "When the group was last changed."),
    ],
    beyond: &[revision::OUTPUT],
    blocks: &[],
    rules: &[],
    import: Some("<page_id>/<group_id>"),
};

const PAGE_ID: Field =
    Field::required("page_id", Shape::Id(PageId::PREFIX), "Status page it belongs to.").replaces();
