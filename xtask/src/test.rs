//! `cargo xtask test`: runs every test of the workspace after the setup. Cargo's own result lines
//! end the output. An ignored test fails the run, because a skipped test proves nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{setup, shell};

/// Tests that run on PostgreSQL too: the folder of the package, and the name of the tests.
const ON_POSTGRES: &[(&str, &str)] = &[("crates/server", "it"), ("crates/provider", "acceptance")];

/// Parts of test names whose outcome cannot depend on the database: what a browser draws, and the
/// documentation. They take half of the time.
const SAME_ON_EVERY_ENGINE: &[&str] = &[
    "browser",
    "dashboard::browsed",
    "dashboard::flow",
    "dashboard::posted",
    "dashboard::screens",
    "docs::",
];

/// A built program of tests.
#[derive(Debug, PartialEq, Eq)]
struct TestProgram {
    file: String,
    /// Folder of the package, in which cargo would run it.
    folder: PathBuf,
}

/// Runs the setup, then `cargo test` with further arguments, on all packages unless they name some.
/// If cargo itself gets no argument, it runs the tests of the server and the Terraform provider again,
/// on PostgreSQL, except [`SAME_ON_EVERY_ENGINE`].
pub(crate) fn run(args: &[&str]) -> Result<()> {
    setup::for_tests()?;
    let mut command = shell::command(&shell::cargo())?;
    command.args(["test", "--no-fail-fast"]);
    if !chooses_packages(args) {
        command.arg("--workspace");
    }
    tested(command.args(args))?;
    match args {
        [] => test_on_postgres(&[]),
        ["--", of_tests @ ..] => test_on_postgres(of_tests),
        _ => Ok(()),
    }
}

/// Runs the built programs of [`ON_POSTGRES`] again. `cargo test` with these packages alone would
/// build them anew, because it chooses other features.
fn test_on_postgres(args: &[&str]) -> Result<()> {
    let build = ["test", "--workspace", "--no-run", "--quiet", "--message-format=json"];
    let messages = shell::output(&shell::cargo(), &build)?;
    let programs: Vec<_> = messages.lines().filter_map(program_on_postgres).collect();
    if programs.len() != ON_POSTGRES.len() {
        bail!("found {} of {} programs of tests", programs.len(), ON_POSTGRES.len());
    }
    for TestProgram { file, folder } in programs {
        let mut command = shell::command(&file)?;
        command.current_dir(folder).env("ALOFT_TEST_ENGINE", "postgres");
        command.args(SAME_ON_EVERY_ENGINE.iter().flat_map(|part| ["--skip", part])).args(args);
        tested(&mut command)?;
    }
    Ok(())
}

/// Returns the program of tests that a message of cargo reports, if it runs on PostgreSQL too.
fn program_on_postgres(message: &str) -> Option<TestProgram> {
    let message: Value = serde_json::from_str(message).ok()?;
    let file = message["executable"].as_str()?.to_owned();
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = &message["target"];
    let is_wanted = ON_POSTGRES.iter().any(|(package, name)| {
        folder.ends_with(package) && target["name"] == *name && target["kind"][0] == "test"
    });
    is_wanted.then_some(TestProgram { file, folder })
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
    fn programs_on_postgres_are_found_in_messages() {
        let message = r#"{"reason":"compiler-artifact","manifest_path":"/a/crates/server/Cargo.toml",
            "target":{"kind":["test"],"name":"it"},"executable":"/t/it-1"}"#;
        let (file, folder) = ("/t/it-1".to_owned(), PathBuf::from("/a/crates/server"));
        assert_eq!(program_on_postgres(message), Some(TestProgram { file, folder }));
        assert_eq!(program_on_postgres(&message.replace("server", "store")), None);
        assert_eq!(program_on_postgres(&message.replace(r#""test""#, r#""bin""#)), None);
        assert_eq!(program_on_postgres("running 3 tests"), None);
    }

    #[test]
    fn ignored_tests_are_counted_from_result_lines() {
        let result = "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out";
        assert_eq!(ignored_in(result), 3);
        assert_eq!(ignored_in(&result.replace("3 ignored", "0 ignored")), 0);
        assert_eq!(ignored_in("a test that prints; 5 ignored; and more"), 0);
    }
}
