//! Tests that the program knows what the files of `packaging/` use: their command lines, variables and
//! settings. `cargo xtask packaging` lists them.

use clap::Parser as _;
use server::config::{SETTINGS, Setting};

use crate::Cli;

const USES: &str = include_str!("../../../packaging/uses.txt");
/// Variables that are not settings.
const VARIABLES: [&str; 1] = ["ALOFT_CONFIG"];

/// Returns why the program does not know what a line of the list uses.
fn fault(line: &str) -> Option<String> {
    let (word, value) = line.split_once(' ').unwrap_or((line, ""));
    let is_setting = |known: &dyn Fn(&Setting) -> bool| SETTINGS.iter().any(known);
    match word {
        "command" => {
            let words = std::iter::once("aloft").chain(value.split(' '));
            Cli::try_parse_from(words).err().map(|why| format!("`{value}`: {why}"))
        }
        "variable" => {
            let name = value.split('=').next().unwrap_or_default();
            let known = VARIABLES.contains(&name) || is_setting(&|it| it.variable() == name);
            (!known).then(|| format!("`{name}` is not a variable of a setting"))
        }
        "setting" => {
            let known = is_setting(&|it| it.name == value && !it.secret);
            (!known).then(|| format!("`{value}` is not a setting of the file"))
        }
        other => Some(format!("unknown kind of use `{other}`")),
    }
}

// issue 19, point 7: units, image, compose file and chart use the options of this program
#[test]
fn packaging_uses_only_known_options() {
    let lines: Vec<&str> = USES.lines().filter(|line| !line.starts_with('#')).collect();
    for start in ["command serve ", "command probe ", "command check ", "variable ", "setting "] {
        assert!(lines.iter().any(|line| line.starts_with(start)), "no line begins with `{start}`");
    }
    let faults: Vec<String> = lines.into_iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn unknown_options_in_packaging_are_found() {
    for good in ["command serve --listen 127.0.0.1:1", "variable ALOFT_DATA=/a", "setting nats"] {
        assert_eq!(fault(good), None, "{good}");
    }
    for bad in [
        "command serve --replicas 3",
        "command probe --token-file a",
        "command probe --server https://a.example.com --shards 3",
        "variable ALOFT_REPLICAS=3",
        "setting replicas",
        "setting master_key",
        "flag --listen",
    ] {
        assert!(fault(bad).is_some(), "{bad}");
    }
}
