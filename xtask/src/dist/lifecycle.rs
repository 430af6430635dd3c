//! Installs, upgrades, removes and purges packages in a copy of this machine, and checks what each step leaves:
//! rights, settings, data, and the calls of `systemctl`.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::format::Format;
use super::machine::Machine;

/// Two packages of one format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upgrade<'a> {
    pub(super) older: &'a Path,
    pub(super) newer: &'a Path,
}

/// Rights of the folders and settings after an installation.
const RIGHTS: &str = "\
/etc/aloft 750 root:aloft
/etc/aloft/aloft.toml 644 root:root
/etc/aloft/probe 644 root:root
/etc/aloft/secrets 600 root:root
/usr/bin/aloft 755 root:root
/var/lib/aloft 700 aloft:aloft
";
const SHOW_RIGHTS: &str =
    "stat -c '%n %a %U:%G' /etc/aloft /etc/aloft/* /usr/bin/aloft /var/lib/aloft";
/// Everything that an operator changes after an installation: settings, a token, an enabled service, data.
const OPERATE: &str = "\
echo '# mine' >>/etc/aloft/aloft.toml && echo token >/etc/aloft/probe-token
mkdir -p /etc/systemd/system/multi-user.target.wants
ln -s /usr/lib/systemd/system/aloft.service /etc/systemd/system/multi-user.target.wants/
install -m 600 -o aloft -g aloft /dev/null /var/lib/aloft/aloft.db";
/// Whether all of it is still there.
const IS_KEPT: &str = "\
grep -q '# mine' /etc/aloft/aloft.toml* && test -f /etc/aloft/probe-token -a -f /var/lib/aloft/aloft.db";
/// The server's command reads its settings as its user.
const READ_SETTINGS: &str = "setpriv --reuid=aloft --regid=aloft --init-groups \
     /usr/bin/aloft config --config /etc/aloft/aloft.toml";
const VERIFY_UNITS: &str = "systemd-analyze verify --man=no /usr/lib/systemd/system/aloft*";

/// Runs the life of a package from its installation to its removal.
pub(super) fn check(format: Format, upgrade: Upgrade<'_>) -> Result<()> {
    let machine = Machine::start()?;
    let older = machine.copy(upgrade.older)?;
    let newer = machine.copy(upgrade.newer)?;
    install(&machine, format, &older).context("after the installation")?;
    machine.run(OPERATE)?;
    match format {
        Format::Deb => {
            machine.run("chmod 751 /etc/aloft")?;
            replace(&machine, format, &newer).context("after the upgrade")?;
            machine.run("test $(stat -c %a /etc/aloft) = 751")?;
            remove_deb(&machine, &newer)
        }
        // rpm restores the rights of folders at each upgrade.
        Format::Rpm => {
            replace(&machine, format, &newer).context("after the upgrade")?;
            remove_rpm(&machine, &newer)
        }
    }
}

fn install(machine: &Machine, format: Format, package: &str) -> Result<()> {
    let text = machine.run(&format!("{} {package}", installer(format)))?;
    expect(&text, "nothing runs yet")?;
    let rights = machine.run(SHOW_RIGHTS)?;
    if rights != RIGHTS {
        bail!("the rights are\n{rights}instead of\n{RIGHTS}");
    }
    machine.run(READ_SETTINGS)?;
    machine.run(VERIFY_UNITS)?;
    // Nothing is enabled or started.
    calls(machine, &["daemon-reload"])
}

/// Upgrades, and then installs the same version again while a service fails to restart.
fn replace(machine: &Machine, format: Format, package: &str) -> Result<()> {
    let restart: &[&str] = match format {
        Format::Deb => &["daemon-reload", "try-restart"],
        // The last call is that of the older package, which is removed after the restart.
        Format::Rpm => &["daemon-reload", "try-restart", "daemon-reload"],
    };
    machine.run(&format!("{} {package}", installer(format)))?;
    machine.run(IS_KEPT)?;
    calls(machine, restart)?;
    machine.run("touch /packages/fail-try-restart")?;
    let text = machine.run(&format!("{} {package}", reinstaller(format)))?;
    expect(&text, "a service did not restart")?;
    machine.run("rm /packages/fail-try-restart")?;
    calls(machine, restart)
}

fn remove_deb(machine: &Machine, package: &str) -> Result<()> {
    machine.run("dpkg --remove aloft")?;
    machine.run(IS_KEPT).context("after the removal")?;
    machine.run("! test -e /usr/bin/aloft")?;
    calls(machine, &["stop", "daemon-reload"])?;

    // A second installation finds the settings of the first one.
    machine.run(&format!("dpkg --install {package}"))?;
    machine.run(IS_KEPT).context("after the second installation")?;
    let text = machine.run("dpkg --purge aloft")?;
    expect(&text, "kept the data in /var/lib/aloft")?;
    expect(&text, "kept your own files in /etc/aloft")?;
    machine
        .run("test -f /etc/aloft/probe-token -a -f /var/lib/aloft/aloft.db && id aloft")
        .context("after the purge")?;
    machine
        .run(
            "! test -e /etc/aloft/aloft.toml -o -e /etc/aloft/secrets -o \
             -L /etc/systemd/system/multi-user.target.wants/aloft.service",
        )
        .context("after the purge")?;

    // Without data and files of the operator, nothing is left.
    machine.run("rm -r /etc/aloft /var/lib/aloft")?;
    machine.run(&format!("dpkg --install {package} && dpkg --purge aloft"))?;
    machine
        .run("! test -e /etc/aloft -o -e /var/lib/aloft")
        .context("after the purge without data")?;
    Ok(())
}

fn remove_rpm(machine: &Machine, package: &str) -> Result<()> {
    // Dependencies are of no interest here: this machine may have no other packages of rpm.
    machine
        .run("rpm --verify --nodeps aloft | grep -v ' /etc/aloft/aloft.toml$' || true")
        .and_then(
            |text| if text.is_empty() { Ok(()) } else { bail!("rpm finds faults: {text}") },
        )?;
    machine.run("rpm --erase aloft")?;
    machine.run(IS_KEPT).context("after the removal")?;
    machine.run("! test -e /usr/bin/aloft")?;
    calls(machine, &["disable --now", "stop aloft-backup.service", "daemon-reload"])?;
    machine.run(&format!("{} {package}", installer(Format::Rpm)))?;
    machine.run(IS_KEPT).context("after the second installation")?;
    Ok(())
}

fn installer(format: Format) -> &'static str {
    match format {
        Format::Deb => "dpkg --install",
        Format::Rpm => "rpm --upgrade --nodeps",
    }
}

fn reinstaller(format: Format) -> &'static str {
    match format {
        Format::Deb => "dpkg --install",
        Format::Rpm => "rpm --upgrade --nodeps --force",
    }
}

/// Checks that exactly these calls of `systemctl` happened, each named by a part, in this order.
fn calls(machine: &Machine, expected: &[&str]) -> Result<()> {
    let calls = machine.systemctl_calls()?;
    let fits = calls.len() == expected.len()
        && calls.iter().zip(expected).all(|(call, part)| call.contains(part));
    if !fits {
        bail!("systemctl was called with {calls:?}, expected {expected:?}");
    }
    Ok(())
}

fn expect(text: &str, part: &str) -> Result<()> {
    if !text.contains(part) {
        bail!("the output has no `{part}`: {text}");
    }
    Ok(())
}
