//! What a page's reader has around: a folder that stands for the machine, targets that stand for what is
//! checked and for receivers, and names. Following the page belongs to `reader`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rules::RecordKind;
use tempfile::TempDir;
use testkit::postgres;
use testkit::target::{Answer, Authority, DnsTarget, HttpTarget, Validity};

use crate::{openstatus, repository, stand_ins};

/// The folders of the machine that pages write to.
const FOLDERS: [&str; 7] =
    ["bin", "home", "work", "tmp", "etc/aloft", "etc/systemd/system", "var/lib/aloft"];
/// Paths of the machine that are another place here.
const PLACES: [&str; 5] =
    ["/var/lib/aloft", "/etc/aloft", "/etc/systemd", "/etc/caddy", "/etc/nginx"];
/// Where the pages have PostgreSQL.
const POSTGRES: &str = "postgres://aloft@db.example.com/aloft";
/// Where the pages have certificates of nginx.
const CERTIFICATES: &str = "/etc/letsencrypt/live/aloft.example.com";

/// One reader's surroundings.
pub(crate) struct World {
    root: TempDir,
    target: HttpTarget,
    names: DnsTarget,
    /// Whether the commands of an operator find the data of a server that the page did not start.
    pub(crate) is_prepared: bool,
    uses_terraform: bool,
    postgres: Option<String>,
}

impl World {
    /// A machine for a page of this text.
    pub(crate) async fn start(text: &str) -> Self {
        let target = HttpTarget::start_with(|received| match received.target.as_str() {
            "/missing" => Answer::status(404),
            _ => openstatus::answer(received, "https://example.com/")
                .unwrap_or_else(|| Answer::ok(r#"{"about":"Example Domain. Welcome."}"#)),
        })
        .await;
        let names = DnsTarget::start().await;
        names.address_of("example.com", "192.0.2.1");
        names.record("example.com", RecordKind::Mx, "10 mail.example.com");
        names.address_of("db.example.com", "127.0.0.1");
        names.address_of("aloft.example.com", "127.0.0.1");
        let root = tempfile::tempdir().unwrap();
        for folder in FOLDERS {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        symlink(repository(), root.path().join("home/aloft")).unwrap();
        stand_ins::write(&root.path().join("bin"));
        let certificate = Authority::new("Guides").issue(&["aloft.example.com"], Validity::Holds);
        fs::write(root.path().join("fullchain.pem"), certificate.chain_pem()).unwrap();
        fs::write(root.path().join("privkey.pem"), certificate.key_pem()).unwrap();
        let postgres = text.contains(POSTGRES).then(postgres::database).map(|it| by_path(&it));
        let uses_terraform = text.contains("terraform ");
        Self { root, target, names, is_prepared: false, uses_terraform, postgres }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below.trim_start_matches('/'))
    }

    /// Publishes the records of a zone file, one a line.
    pub(crate) fn publishes(&self, zone: &str) {
        for line in zone.lines().filter(|line| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [owner, kind, value] = words[..] else { panic!("{line} is no record") };
            let kind = match kind {
                "CNAME" => RecordKind::Cname,
                "TXT" => RecordKind::Txt,
                other => panic!("nobody publishes records of {other}"),
            };
            let value = value.trim_matches('"').trim_end_matches('.');
            self.names.record(owner.trim_end_matches('.'), kind, value);
        }
    }

    /// The folder that the reader is in.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// `bash` in the reader's folder, with the reader's variables and none of the developer's.
    pub(crate) fn bash(&self) -> Command {
        let mut bash = Command::new("bash");
        bash.current_dir(self.work()).env_clear();
        bash.env("PATH", self.search()).env("HOME", self.path("home"));
        bash.env("ROOT", self.root.path()).env("TMPDIR", self.path("tmp"));
        bash.env("REAL_ALOFT", env!("CARGO_BIN_EXE_aloft"));
        bash.env("REAL_NPM", stand_ins::real("npm"));
        // What a server of loopback needs, and a reader's does not.
        bash.env("ALOFT_ALLOW_PRIVATE_NETWORKS", "true");
        bash.env("ALOFT_NAMESERVERS", self.names.address().to_string());
        bash.env("ALOFT_NTFY_URL", self.target.url(""));
        bash.env("ALOFT_PAGES_HOSTS", "127.0.0.1");
        // Nobody types yes here.
        bash.env("TF_CLI_ARGS", "-no-color").env("TF_CLI_ARGS_apply", "-auto-approve");
        bash.env("TF_INPUT", "0").env("CHECKPOINT_DISABLE", "1");
        if self.is_prepared {
            bash.env("ALOFT_DATA", self.path("work/aloft-data"));
        }
        if self.uses_terraform {
            let (folder, file) = stand_ins::provider_place();
            bash.env("PROVIDER", stand_ins::provider());
            bash.env("PROVIDER_FOLDER", folder).env("PROVIDER_FILE", file);
        }
        bash
    }

    /// A text with the addresses and places of this machine.
    pub(crate) fn placed(&self, text: &str) -> String {
        let mut text = text.replace("/usr/local/bin/aloft", env!("CARGO_BIN_EXE_aloft"));
        if let Some(postgres) = &self.postgres {
            text = text.replace(POSTGRES, postgres);
        }
        text = text.replace(CERTIFICATES, self.root.path().to_str().unwrap());
        for place in PLACES {
            text = text.replace(place, self.path(place).to_str().unwrap());
        }
        text = text.replace("tcp example.com:443", &format!("tcp {}", self.target.address()));
        let own = self.target.url("");
        text = text.replace(openstatus::ADDRESS, &own);
        ["/", "\"", "'", " ", "\n"].iter().fold(text, |text, end| {
            text.replace(&format!("https://example.com{end}"), &format!("{own}{end}"))
        })
    }

    /// The stand-ins, then what `cargo xtask setup` installed, then what the machine has.
    fn search(&self) -> std::ffi::OsString {
        let tools = std::env::var_os("ALOFT_TOOLS_DIR")
            .map_or_else(|| repository().join(".tools"), PathBuf::from);
        let mut folders = vec![self.path("bin"), tools.join("bin")];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        std::env::join_paths(folders).unwrap()
    }
}

/// An address of PostgreSQL that a shell takes without quotes: `postgres:///name?user=aloft&host=/folder`
/// with the folder in the place of the host.
fn by_path(address: &str) -> String {
    let (name, folder) =
        address.trim_start_matches("postgres:///").split_once("?user=aloft&host=").unwrap();
    format!("postgres://aloft@{}/{name}", Path::new(folder).to_str().unwrap().replace('/', "%2F"))
}
