//! The probe (issue 19): a process elsewhere that serves regions. Not a Terraform resource.

use crate::field::{Field, Resource, Shape};
use crate::{ProbeId, Region};

/// Maximum length of a probe's name, in characters (ours).
pub const PROBE_NAME_CHARS_MAX: u32 = 40;

/// A probe: a name and its regions.
pub static PROBE: Resource = Resource {
    name: "probe",
    description: "Checks monitors from a place outside of the server.",
    fields: &[
        Field::required(
            "name",
            Shape::Slug { min: 1, max: PROBE_NAME_CHARS_MAX },
            "Name of the probe, 1 to 40 characters: lower-case words and digits joined by hyphens.",
        ),
        Field::required(
            "regions",
            Shape::SetOf(Region::WORDS),
            "Regions that the probe serves; at most one probe serves a region.",
        ),
        Field::output("id", Shape::Id(ProbeId::PREFIX), "Identifier of the probe; not its token."),
        Field::output("created_at", Shape::Instant, "When the probe was created."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};
