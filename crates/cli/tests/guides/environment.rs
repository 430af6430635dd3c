//! The environment of a page's reader: a folder that acts as the machine, targets that act as
//! checked services and receivers, and DNS names. Leaves following the page to `reader`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use rules::RecordKind;
use tempfile::TempDir;
use testkit::postgres;
use testkit::target::{Authority, DnsTarget, HttpTarget, ScriptedResponse, Validity};

use crate::{openstatus, repository, stubs};

/// Folders of the machine that pages write to.
const FOLDERS: [&str; 7] =
    ["bin", "home", "work", "tmp", "etc/aloft", "etc/systemd/system", "var/lib/aloft"];
/// Paths of the machine that are mapped to the test's folder.
const PLACES: [&str; 5] =
    ["/var/lib/aloft", "/etc/aloft", "/etc/systemd", "/etc/caddy", "/etc/nginx"];
/// Address of PostgreSQL in the pages.
const POSTGRES: &str = "postgres://aloft@db.example.com/aloft";
/// Path of nginx's certificates in the pages.
const CERTIFICATES: &str = "/etc/letsencrypt/live/aloft.example.com";

/// The environment of one reader.
pub(crate) struct World {
    root: TempDir,
    target: HttpTarget,
    names: DnsTarget,
    /// Whether commands of an operator use the data of a server that the page did not start.
    pub(crate) is_prepared: bool,
    uses_terraform: bool,
    /// Folders of Go, which are below the home folder of the developer.
    go_folders: Vec<(&'static str, String)>,
    postgres: Option<String>,
}

impl World {
    /// Creates the environment for a page with this text.
    pub(crate) async fn start(text: &str) -> Self {
        let target = HttpTarget::start_with(|received| match received.target.as_str() {
            "/missing" => ScriptedResponse::status(404),
            _ => openstatus::answer(received, "https://example.com/")
                .unwrap_or_else(|| ScriptedResponse::ok(r#"{"about":"Example Domain. Welcome."}"#)),
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
        stubs::write(&root.path().join("bin"));
        let certificate = Authority::new("Guides").issue(&["aloft.example.com"], Validity::Valid);
        fs::write(root.path().join("fullchain.pem"), certificate.chain_pem()).unwrap();
        fs::write(root.path().join("privkey.pem"), certificate.key_pem()).unwrap();
        let postgres = text.contains(POSTGRES).then(postgres::database).map(|it| by_path(&it));
        let uses_terraform = text.contains("terraform ");
        let go_folders = if text.contains("go run ") { go_folders() } else { Vec::new() };
        Self { root, target, names, is_prepared: false, uses_terraform, go_folders, postgres }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below.trim_start_matches('/'))
    }

    /// Publishes the records of a zone file, one per line.
    pub(crate) fn publishes(&self, zone: &str) {
        for line in zone.lines().filter(|line| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [owner, kind, value] = words[..] else { panic!("{line} is not a record") };
            let kind = match kind {
                "CNAME" => RecordKind::Cname,
                "TXT" => RecordKind::Txt,
                other => panic!("unsupported type of record {other}"),
            };
            let value = value.trim_matches('"').trim_end_matches('.');
            self.names.record(owner.trim_end_matches('.'), kind, value);
        }
    }

    /// Returns the reader's working folder.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Returns `bash` in the reader's folder, with the reader's variables and none of the
    /// developer's.
    pub(crate) fn bash(&self) -> Command {
        let mut bash = Command::new("bash");
        bash.current_dir(self.work()).env_clear();
        bash.env("PATH", self.search()).env("HOME", self.path("home"));
        bash.env("ROOT", self.root.path()).env("TMPDIR", self.path("tmp"));
        bash.env("REAL_ALOFT", env!("CARGO_BIN_EXE_aloft"));
        bash.env("REAL_NPM", stubs::real("npm"));
        // pip installs from files, without the network.
        bash.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", testkit::tools::wheels_of_client());
        bash.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
        // Needed on loopback only, so the pages do not mention it.
        bash.env("ALOFT_ALLOW_PRIVATE_NETWORKS", "true");
        bash.env("ALOFT_NAMESERVERS", self.names.address().to_string());
        bash.env("ALOFT_NTFY_URL", self.target.url(""));
        bash.env("ALOFT_PAGES_HOSTS", "127.0.0.1");
        // Tests cannot confirm prompts.
        bash.env("TF_CLI_ARGS", "-no-color").env("TF_CLI_ARGS_apply", "-auto-approve");
        bash.env("TF_INPUT", "0").env("CHECKPOINT_DISABLE", "1");
        if !self.go_folders.is_empty() {
            // Without a network. With -trimpath, builds in other folders are reused.
            bash.env("GOPROXY", "off").env("GOSUMDB", "off").env("GOFLAGS", "-trimpath");
            bash.envs(self.go_folders.iter().map(|(name, folder)| (name, folder)));
        }
        if self.is_prepared {
            bash.env("ALOFT_DATA", self.path("work/aloft-data"));
        }
        if self.uses_terraform {
            let (folder, file) = stubs::provider_place();
            bash.env("PROVIDER", stubs::provider());
            bash.env("PROVIDER_FOLDER", folder).env("PROVIDER_FILE", file);
        }
        bash
    }

    /// Returns a text with the addresses and paths of this environment.
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

    /// Returns the `PATH`: stubs first, then tools that `cargo xtask setup` installed, then the
    /// machine's own.
    fn search(&self) -> std::ffi::OsString {
        let tools = std::env::var_os("ALOFT_TOOLS_DIR")
            .map_or_else(|| repository().join(".tools"), PathBuf::from);
        let mut folders = vec![self.path("bin"), tools.join("bin")];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        std::env::join_paths(folders).unwrap()
    }
}

/// Returns the variables with the folders of downloaded modules and of builds.
fn go_folders() -> Vec<(&'static str, String)> {
    let folder = |name: &'static str| {
        let output = Command::new("go").args(["env", name]).output();
        let output = output.expect("these tests start Go: run `cargo xtask setup`");
        (name, String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    ["GOMODCACHE", "GOCACHE"].map(folder).into()
}

/// Converts an address of PostgreSQL to one that a shell accepts without quotes:
/// `postgres:///name?user=aloft&port=5432&host=/folder`.
fn by_path(address: &str) -> String {
    let (name, rest) =
        address.trim_start_matches("postgres:///").split_once("?user=aloft&port=").unwrap();
    let (port, folder) = rest.split_once("&host=").unwrap();
    format!("postgres://aloft@{}:{port}/{name}", folder.replace('/', "%2F"))
}
