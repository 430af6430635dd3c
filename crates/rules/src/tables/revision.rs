//! The field by which callers tell whether an object has changed. All of it is ours (issue 16, point 17).

use crate::field::{Field, Shape};

/// Output of every object that has an update.
pub(super) const OUTPUT: Field = Field::output(
    "revision",
    Shape::Text { min: 1, max: 20 },
    "Changes with every change of the object; an update may require it.",
);
