//! Checks the units of systemd: that systemd accepts them, and how much they permit.

use std::fs;

use anyhow::{Result, bail};

use super::uses::Uses;
use super::{files, read};
use crate::shell;

const FOLDER: &str = "packaging/systemd";
/// Path of the program in the units. Another program replaces it here, because systemd looks for it.
const PROGRAM: &str = "/usr/local/bin/aloft";
/// Variable of a unit with arguments of its operator, and an example.
const ARGUMENTS: (&str, &str) = ("$PROBE_ARGUMENTS", "--server https://aloft.example.com");
/// Variable of systemd, and an example.
const CREDENTIALS: (&str, &str) =
    ("${CREDENTIALS_DIRECTORY}", "/run/credentials/aloft-probe.service");
/// Maximum exposure of a service in tenths, as `systemd-analyze security` rates it: 0 is the best.
const EXPOSURE_MAX: &str = "--threshold=30";

pub(super) fn check(uses: &mut Uses) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut units = Vec::new();
    for file in files(FOLDER)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = read(&format!("{FOLDER}/{name}"))?;
        if name.ends_with(".service") {
            let lines = command_lines(&text);
            if lines.is_empty() {
                bail!("{FOLDER}/{name} does not start {PROGRAM}");
            }
            lines.iter().try_for_each(|line| uses.read_line(line))?;
        }
        let copy = folder.path().join(name);
        fs::write(&copy, text.replace(PROGRAM, "/bin/true"))?;
        units.push(copy.display().to_string());
    }
    for unit in &units {
        shell::run("systemd-analyze", &["verify", "--man=no", unit])?;
    }
    for unit in units.iter().filter(|unit| unit.ends_with(".service")) {
        let quiet = ["security", "--offline=true", EXPOSURE_MAX, "--no-pager", unit];
        shell::output("systemd-analyze", &quiet)?;
    }
    Ok(())
}

/// Returns the arguments of the program in each line that starts it.
fn command_lines(unit: &str) -> Vec<String> {
    let lines = unit.lines().filter_map(|line| line.strip_prefix("ExecStart="));
    let arguments = lines.filter_map(|line| line.split_once(PROGRAM)).map(|(_, rest)| rest);
    arguments
        .map(|line| line.trim().trim_end_matches('\'').replace(ARGUMENTS.0, ARGUMENTS.1))
        .map(|line| line.replace(CREDENTIALS.0, CREDENTIALS.1).replace("$(date +%%F)", "today"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn started_command_lines_are_found() {
        let unit = "[Service]\nExecStart=/usr/local/bin/aloft probe $PROBE_ARGUMENTS\n\
                    ExecStart=/bin/sh -c 'exec /usr/local/bin/aloft backup /a/$(date +%%F).db'\n\
                    ExecStart=/usr/bin/find /a\n";
        let found = command_lines(unit);
        assert_eq!(found, ["probe --server https://aloft.example.com", "backup /a/today.db"]);
    }
}
