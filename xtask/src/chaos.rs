//! `cargo xtask chaos`: kills the server (SIGKILL) a hundred times at random moments while monitors
//! flip and receivers fail, on both databases. `crates/cli/tests/it/chaos.rs` contains the
//! assertions. `cargo xtask test` runs a short version.

use anyhow::{Context as _, Result, bail};

use crate::{setup, shell};

const KILLS: u32 = 100;

/// Runs the test with `[--kills N]`.
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
