//! `aloft completions` and `aloft man`: completions for shells and manual pages, generated from the
//! definition of the command line.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::{Command, ValueEnum};
use clap_complete::Shell;

use crate::output;

/// A shell with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

/// Prints the completions of the program for a shell.
pub(crate) fn completions(shell: CompletionShell, mut program: Command) {
    let shell = match shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Fish => Shell::Fish,
    };
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    // A closed pipe, such as with `head`, is not an error.
    let _ = std::io::stdout().write_all(&script);
}

/// Writes a manual page for each command to a folder.
pub(crate) fn man(folder: &Path, program: Command) -> Result<()> {
    let shown = folder.display();
    fs::create_dir_all(folder).with_context(|| format!("creating `{shown}`"))?;
    clap_mangen::generate_to(program, folder)
        .with_context(|| format!("writing the manual pages to `{shown}`"))?;
    output::print_stderr(&format!(
        "wrote the manual pages to {shown}; `man -l {shown}/aloft.1` shows the first"
    ));
    Ok(())
}
