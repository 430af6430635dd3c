//! Runs other programs. Prints each command first, and failures name the whole command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Variables with secrets. No other program gets them, because build scripts of libraries could read them.
pub(crate) const SECRETS: [&str; 2] = ["ALOFT_SIGNING_KEY", "ALOFT_SIGNING_PASSWORD"];

/// Returns the folder of the workspace, wherever the command was called from.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace's folder")
}

/// Returns the folder of tools: `ALOFT_TOOLS_DIR`, or `.tools` in the workspace.
pub(crate) fn tools() -> PathBuf {
    match std::env::var_os("ALOFT_TOOLS_DIR") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => workspace().join(".tools"),
    }
}

/// Creates a command in the workspace's folder with our tools first on the `PATH`, and without secrets.
pub(crate) fn command(program: &str) -> Result<Command> {
    let mut search = vec![tools().join("bin")];
    search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new(program);
    command
        .current_dir(workspace())
        .stdin(Stdio::null())
        .env(
            "PATH",
            std::env::join_paths(search).context("the path of the tools contains a colon")?,
        )
        .env("ALOFT_TOOLS_DIR", tools());
    for secret in SECRETS {
        command.env_remove(secret);
    }
    Ok(command)
}

/// Returns the cargo that runs this program, so that the caller's toolchain is used.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Runs a command with inherited output. Fails if it fails.
pub(crate) fn run(program: &str, args: &[&str]) -> Result<()> {
    finish(command(program)?.args(args))
}

/// Runs a prepared command like [`run`].
pub(crate) fn finish(command: &mut Command) -> Result<()> {
    let line = format_command(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("failed to start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Returns the output of a command. Fails if it fails.
pub(crate) fn output(program: &str, args: &[&str]) -> Result<String> {
    let mut command = command(program)?;
    command.args(args);
    let line = format_command(&command);
    let output = command.output().with_context(|| format!("failed to start `{line}`"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({}): {}", output.status, why.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns whether a program with this name can be started.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Formats a command as a person would type it.
pub(crate) fn format_command(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_get_no_secrets() {
        let command = command("true").unwrap();
        for secret in SECRETS {
            let removed = command.get_envs().any(|(name, value)| name == secret && value.is_none());
            assert!(removed, "{secret}");
        }
    }
}
