//! `provider-docs [--check] FOLDER`: writes or compares the provider's documentation. `cargo xtask
//! provider docs` runs it; it is not part of a release.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for a terminal")]

use std::io;
use std::path::Path;
use std::process::ExitCode;

use aloft_provider::ServiceProvider;
use terraform_plugin::docs::{Documentation, examples};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [folder] => write(Path::new(folder)),
        ["--check", folder] => check(Path::new(folder)),
        _ => {
            eprintln!("usage: provider-docs [--check] FOLDER");
            return ExitCode::FAILURE;
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("cannot read or write the documentation: {why}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path) -> io::Result<bool> {
    let documentation = documentation(folder)?;
    for path in documentation.write(folder)? {
        println!("wrote {path}");
    }
    Ok(has_matching_examples(&documentation))
}

fn check(folder: &Path) -> io::Result<bool> {
    let documentation = documentation(folder)?;
    let outdated = documentation.outdated(folder)?;
    for path in &outdated {
        eprintln!("{path} does not match the schemas; run `cargo xtask provider docs`");
    }
    Ok(has_matching_examples(&documentation) && outdated.is_empty())
}

fn documentation(folder: &Path) -> io::Result<Documentation> {
    let examples = examples(&folder.join("examples"))?;
    Ok(Documentation::generate("service", &ServiceProvider::default(), &examples))
}

/// Checks whether each thing has its example, and each example its page.
fn has_matching_examples(documentation: &Documentation) -> bool {
    for path in &documentation.missing {
        eprintln!("examples/{path} is missing");
    }
    for path in &documentation.unused {
        eprintln!("examples/{path} is on no page");
    }
    documentation.missing.is_empty() && documentation.unused.is_empty()
}
