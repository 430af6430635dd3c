//! `aloft config`: prints the effective settings and the source of each.

use std::process::ExitCode;

use anyhow::Result;
use server::boot;
use server::config::{Origin, Value};

use crate::flags::Flags;
use crate::output;

pub(crate) fn run(flags: Flags) -> Result<ExitCode> {
    let (values, _) = boot::load(flags.values, flags.file)?;
    let rows: Vec<[String; 3]> = values.0.iter().map(row).collect();
    output::print_text(&output::table(&rows));
    Ok(ExitCode::SUCCESS)
}

fn row(value: &Value) -> [String; 3] {
    let name = value.setting.name.to_owned();
    let shown = if value.redacted().is_empty() { "-" } else { value.redacted() };
    let origin = match &value.origin {
        Origin::Flag => value.setting.flag().unwrap_or_default(),
        Origin::Environment => value.setting.variable(),
        Origin::File { path, .. } => path.display().to_string(),
        Origin::Default => "default".to_owned(),
    };
    [name, shown.to_owned(), origin]
}
