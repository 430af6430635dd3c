//! `cargo xtask test`: runs every test of the workspace after the setup. Cargo's own result lines
//! end the output. An ignored test fails the run, because a skipped test proves nothing.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{setup, shell};

/// Runs the setup, then `cargo test` with further arguments, on all packages unless they name some.
/// After all packages, it runs the tests of the server and the Terraform provider again, on
/// PostgreSQL.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    setup::for_tests()?;
    let mut command = shell::command(&shell::cargo())?;
    command.args(["test", "--no-fail-fast"]);
    if chooses_packages(args) {
        return tested(command.args(args));
    }
    tested(command.arg("--workspace").args(args))?;
    let mut command = shell::command(&shell::cargo())?;
    command.args(["test", "--no-fail-fast", "--package", "aloft-server", "--test", "it"]);
    command.args(["--package", "aloft-provider", "--test", "acceptance"]);
    tested(command.args(args).env("ALOFT_TEST_ENGINE", "postgres"))
}

fn tested(command: &mut Command) -> Result<()> {
    println!("$ {}", shell::format_command(command));
    let mut child = command.stdout(Stdio::piped()).spawn().context("failed to start cargo")?;
    let output = child.stdout.take().expect("stdout is piped");
    let mut ignored = 0;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("failed to read cargo's output")?;
        ignored += ignored_in(&String::from_utf8_lossy(&line));
        let mut out = std::io::stdout().lock();
        out.write_all(&line).and_then(|()| out.write_all(b"\n")).context("cannot print")?;
    }
    let status = child.wait().context("failed to wait for cargo")?;
    if ignored > 0 {
        bail!("{ignored} tests are ignored; run or delete them");
    }
    if !status.success() {
        std::process::exit(status.code().unwrap_or(1));
    }
    Ok(())
}

/// Returns whether arguments for cargo (those before `--`) name packages.
fn chooses_packages(args: &[&str]) -> bool {
    let own = args.iter().take_while(|word| **word != "--");
    own.into_iter().any(|word| word.starts_with("-p") || word.starts_with("--package"))
}

/// Returns the number of ignored tests that a line of libtest's output reports.
fn ignored_in(line: &str) -> u32 {
    if !line.starts_with("test result: ") {
        return 0;
    }
    let counts = line.split(';').filter_map(|part| part.trim().strip_suffix(" ignored"));
    counts.filter_map(|count| count.trim().parse::<u32>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arguments_before_dashes_choose_packages() {
        assert!(chooses_packages(&["-p", "xtask"]) && chooses_packages(&["--package=xtask"]));
        assert!(!chooses_packages(&["--test", "it", "--", "-p"]) && !chooses_packages(&[]));
    }

    #[test]
    fn ignored_tests_are_counted_from_result_lines() {
        let result = "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out";
        assert_eq!(ignored_in(result), 3);
        assert_eq!(ignored_in(&result.replace("3 ignored", "0 ignored")), 0);
        assert_eq!(ignored_in("a test that prints; 5 ignored; and more"), 0);
    }
}
