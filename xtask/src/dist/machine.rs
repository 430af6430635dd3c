//! A copy of this machine in which packages are installed for real: a mount namespace whose root is an overlay, so
//! that nothing outside changes. A script takes the place of `systemctl` and records its calls, because no systemd runs in
//! it. Needs root.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Creates the copy in the folder `$1`, prepares it, says so, and waits until its input ends.
const START: &str = r#"
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/copy"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/copy"
mount --rbind /dev "$1/copy/dev"
mount -t tmpfs tmpfs "$1/copy/run"
mkdir -p "$1/copy/run/systemd/system" "$1/copy/packages"
# Without this file, dpkg does not read all manual pages again after each step.
rm -f "$1/copy/var/lib/man-db/auto-update" "$1/copy/usr/sbin/policy-rc.d" "$1/copy/usr/bin/systemctl" "$1/copy/bin/systemctl"
cat >"$1/copy/usr/bin/systemctl" <<'END'
#!/bin/sh
echo "$*" >>/packages/systemctl
case "$*" in *try-restart*) ! test -e /packages/fail-try-restart ;; esac
END
chmod 755 "$1/copy/usr/bin/systemctl"
# An installation on the machine itself must not matter.
chroot "$1/copy" sh -c 'dpkg --purge aloft; rpm --erase aloft; userdel aloft; groupdel aloft' >/dev/null 2>&1 || true
rm -rf "$1/copy/etc/aloft" "$1/copy/var/lib/aloft" "$1/copy/packages/systemctl"
echo ready
cat >/dev/null
"#;
/// File with the recorded calls, in the copy.
const CALLS: &str = "/packages/systemctl";

/// A copy of this machine. Dropping it ends its process, and with it the namespace and all mounts.
#[derive(Debug)]
pub(super) struct Machine {
    holder: Child,
    folder: tempfile::TempDir,
}

/// Output and status of a command.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) succeeded: bool,
    pub(super) text: String,
}

impl Machine {
    /// Returns why this machine cannot be copied, if so.
    pub(super) fn obstacle() -> Result<Option<String>> {
        if shell::output("id", &["-u"])?.trim() != "0" {
            return Ok(Some("only root can copy this machine".into()));
        }
        let tried = ["--mount", "sh", "-ec", "mount -t tmpfs tmpfs /mnt"];
        let tried = shell::output("unshare", &tried);
        Ok(tried.err().map(|why| format!("this machine allows no mounts: {why:#}")))
    }

    pub(super) fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut holder = shell::command("unshare")?
            .args(["--mount", "--propagation", "private", "sh", "-c", START, "sh"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start unshare")?;
        let output = holder.stdout.take().context("unshare has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        if line.trim() != "ready" {
            let status = holder.wait()?;
            bail!("failed to copy this machine ({status}); the lines above say why");
        }
        Ok(Self { holder, folder })
    }

    /// Copies a file into the folder `/packages` of the machine, and returns its path there.
    pub(super) fn copy(&self, file: &Path) -> Result<String> {
        let name = file.file_name().context("the file has no name")?.to_string_lossy().into_owned();
        let path = format!("/packages/{name}");
        let input =
            fs::File::open(file).with_context(|| format!("failed to open {}", file.display()))?;
        let mut command = self.command(&format!("cat >'{path}'"))?;
        let status = command.stdin(input).status().context("failed to start nsenter")?;
        if !status.success() {
            bail!("failed to copy {} into the machine", file.display());
        }
        Ok(path)
    }

    /// Runs a line of shell, and returns its output with its errors.
    pub(super) fn try_run(&self, line: &str) -> Result<Outcome> {
        let mut command = self.command(&format!("exec 2>&1; {line}"))?;
        let output = command.output().context("failed to start nsenter")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Outcome { succeeded: output.status.success(), text })
    }

    /// Runs a line of shell that must succeed.
    pub(super) fn run(&self, line: &str) -> Result<String> {
        let outcome = self.try_run(line)?;
        if !outcome.succeeded {
            bail!("`{line}` failed: {}", outcome.text.trim());
        }
        Ok(outcome.text)
    }

    /// Returns the calls of `systemctl` since the last time.
    pub(super) fn systemctl_calls(&self) -> Result<Vec<String>> {
        let calls = self.run(&format!("touch {CALLS}; cat {CALLS}; rm {CALLS}"))?;
        Ok(calls.lines().map(str::to_owned).collect())
    }

    fn command(&self, line: &str) -> Result<Command> {
        let root = self.folder.path().join("copy");
        let mut command = shell::command("nsenter")?;
        command.args(["--target", &self.holder.id().to_string(), "--mount", "chroot"]);
        command.arg(root).args(["sh", "-c", line]);
        command.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C.UTF-8");
        Ok(command)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The process ends at the end of its input.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
