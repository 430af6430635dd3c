//! The table of settings as shown to operators.

use std::fmt::Write as _;

use server::config::SETTINGS;

const PAGE: &str = include_str!("../../../../docs/reference/settings.md");

#[test]
fn settings_reference_lists_every_setting() {
    let mut rows = String::from(
        "| Flag | Variable | Key in the file | Default | Description |\n|---|---|---|---|---|\n",
    );
    for setting in SETTINGS {
        let flag = match (setting.flag(), setting.shape) {
            (Some(flag), Some(shape)) => format!("`{flag} {}`", shape.replace('|', "\\|")),
            (Some(flag), None) => format!("`{flag}`"),
            (None, _) => "none".to_owned(),
        };
        let key = if setting.secret { "none".to_owned() } else { format!("`{}`", setting.name) };
        let default = if setting.default.is_empty() {
            String::new()
        } else {
            format!("`{}`", setting.default)
        };
        writeln!(
            rows,
            "| {flag} | `{}` | {key} | {default} | {} |",
            setting.variable(),
            setting.description,
        )
        .unwrap();
    }
    assert!(PAGE.contains(&rows), "docs/reference/settings.md lacks this table:\n{rows}");
}
