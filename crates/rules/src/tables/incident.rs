//! Comments on incidents: our addition (issue 6, point 1), so not in the lists of resources.

use crate::field::{Field, Resource, Shape};

/// Maximum length of a comment, in characters (ours).
const COMMENT_CHARS_MAX: u32 = 4_096;

/// A comment on an incident.
pub static INCIDENT_COMMENT: Resource = Resource {
    name: "incident_comment",
    description: "A comment in the timeline of an incident.",
    fields: &[Field::required(
        "text",
        Shape::Text { min: 1, max: COMMENT_CHARS_MAX },
        "Text of the comment, 1 to 4096 characters.",
    )],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};
