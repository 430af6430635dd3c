//! Values of a form of monitors that a browser posted.

use rules::field::Resource;

use super::{fields, regions};
use crate::error::ScreenError;
use crate::form::Values;

/// Posted form.
#[derive(Debug)]
pub(super) struct PostedForm {
    pub(super) values: Values,
    /// Whether the person only asked for another row.
    pub(super) wants_row: bool,
}

/// Reads a posted form.
pub(super) fn read(
    posted: Vec<(String, String)>,
    table: &'static Resource,
) -> Result<PostedForm, ScreenError> {
    let mut values = Values::posted(regions::apply(posted), table);
    let Some(block) = values.first("add_row").map(str::to_owned) else {
        return Ok(PostedForm { values, wants_row: false });
    };
    let block = table.blocks.iter().find(|it| it.name == block);
    values.add_row(block.ok_or(ScreenError::NotFound)?);
    Ok(PostedForm { values, wants_row: true })
}

/// Names a monitor without a name after its target, without scheme, query and trailing slash.
pub(super) fn name_after_target(values: &mut Values, table: &Resource) {
    if values.first("name").is_some_and(|name| !name.trim().is_empty()) {
        return;
    }
    let Some(target) = fields::target(table) else { return };
    let target = values.first(target).unwrap_or_default().trim();
    let name = target.split_once("://").map_or(target, |(_, rest)| rest);
    let name = name.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    // Credentials do not belong into a name.
    let name = name.rsplit_once('@').map_or(name, |(_, rest)| rest);
    let name: String = name.chars().take(256).collect();
    values.set("name", name);
}

#[cfg(test)]
mod tests {
    use rules::tables::HTTP_MONITOR;

    use super::*;

    #[test]
    fn monitor_without_name_gets_its_target() {
        for (url, expected) in [
            ("https://example.com/", "example.com"),
            ("https://ada:pw@example.com/health?key=1", "example.com/health"),
            ("db.example.com:5432", "db.example.com:5432"),
            ("", ""),
        ] {
            let mut values = Values::default();
            values.set("url", url);
            name_after_target(&mut values, &HTTP_MONITOR);
            assert_eq!(values.first("name"), Some(expected), "{url}");
        }
    }
}
