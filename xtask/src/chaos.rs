//! `cargo xtask chaos`: a hundred `kill -9` at random moments while monitors flip and receivers fail,
//! on both databases; what is held then stands in the test itself (`crates/cli/tests/it/chaos.rs`),
//! of which `cargo xtask test` runs a short form.

use anyhow::{Context as _, Result, bail};

use crate::{setup, shell};

const KILLS: u32 = 100;

/// Runs it with `[--kills N]`.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let kills = match words {
        [] => KILLS,
        ["--kills", number] => number.parse().context("--kills takes a number")?,
        _ => bail!("usage: cargo xtask chaos [--kills N]"),
    };
    setup::for_tests()?;
    let mut command = shell::command(&shell::cargo())?;
    command.args(["test", "--package", "aloft", "--test", "it", "--", "chaos::", "--nocapture"]);
    shell::finish(command.env("ALOFT_CHAOS_KILLS", kills.to_string()))
}
