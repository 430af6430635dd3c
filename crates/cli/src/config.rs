//! `aloft config`: the settings that hold and where each came from.

use std::process::ExitCode;

use anyhow::Result;
use server::boot;

use crate::flags::Flags;

pub(crate) fn run(flags: Flags) -> Result<ExitCode> {
    let (values, _) = boot::load(flags.values, flags.file)?;
    for value in &values.0 {
        crate::say(&format!("{:<24} {:<28} {}", value.setting.name, value.shown(), value.origin));
    }
    Ok(ExitCode::SUCCESS)
}
