//! Configurations that own resources, and their entries (issue 20): our addition and unknown to
//! Terraform, so not in the lists of resources.

use crate::field::{Field, Resource, Shape};

/// Maximum length of a resource's ID in an entry, in characters.
pub const RESOURCE_ID_CHARS_MAX: u32 = 64;

/// A configuration: the name of the files that `aloft apply` reads together.
pub static CONFIGURATION: Resource = Resource {
    name: "configuration",
    description: "Owns the resources that its files created.",
    fields: &[
        Field::required(
            "name",
            Shape::Slug { min: 1, max: 63 },
            "Name of the configuration, 1 to 63 characters: lower-case words joined by hyphens.",
        ),
        Field::output(
            "resource_count",
            Shape::Integer { min: 0, max: i32::MAX },
            "Number of its entries.",
        ),
        Field::output("updated_at", Shape::Instant, "When an entry was changed last."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// An entry: a resource that a configuration owns.
pub static CONFIGURED_RESOURCE: Resource = Resource {
    name: "configured_resource",
    description: "A resource that a configuration owns.",
    fields: &[
        Field::required(
            "kind",
            Shape::Text { min: 1, max: 64 },
            "Type of the resource, such as http_monitor.",
        ),
        Field::required(
            "key",
            Shape::Line { min: 1, max: 200 },
            "Key of the resource in the configuration, 1 to 200 characters.",
        ),
        Field::optional(
            "id",
            Shape::Line { min: 1, max: RESOURCE_ID_CHARS_MAX },
            "ID of the resource; absent while it is being created.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};
