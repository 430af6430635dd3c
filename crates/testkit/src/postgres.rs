//! A PostgreSQL server for the test process, from the installed programs. It listens on a socket in
//! a temporary folder and does not sync to disk, for speed. `ALOFT_TEST_FSYNC=on` turns syncing on
//! for measurements. A shell hosts the server and stops it when its stdin closes, however the test
//! process ends. Each test gets its own database, which is deleted after the test: hundreds of them
//! would fill the disk. A test that kills, pauses or configures a server starts its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use rules::Secret;
use store::Database;

use super::migrated;

/// Folder in which Debian-based systems install the server's programs, with a folder for each
/// version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Users to run the server as if root runs the tests, because PostgreSQL refuses to run as root.
const USERS: &[&str] = &["postgres", "nobody"];

/// Port that names the socket of a server that listens on no network.
const PORT: u16 = 5432;

/// Script that creates the files, starts the server, prints `ready`, and obeys the commands on
/// stdin. At the end of stdin, it stops the server and removes the files. Its arguments are the
/// folders of the programs and the files, and more options of the server.
const HOST: &str = r#"
trap '' INT TERM HUP
programs=$1 folder=$2 options=$3
end() { signal CONT; stop; rm -rf "$folder"; exit "$1"; }
stop() { "$programs/pg_ctl" -D "$folder/data" -m immediate stop; }
start() {
    "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w start -o "-k $folder $options \
        -c fsync=${ALOFT_TEST_FSYNC:-off} -c full_page_writes=${ALOFT_TEST_FSYNC:-off} \
        -c autovacuum=off -c max_connections=400 \
        -c wal_level=minimal -c max_wal_senders=0 -c max_wal_size=128MB" 3>&-
}
signal() {
    read -r master <"$folder/data/postmaster.pid" || return
    kill "-$1" "$master" || return
    # Its processes may end at any time.
    for process in $(grep -sl "^PPid:[[:space:]]*$master\$" /proc/[0-9]*/status); do
        process=${process#/proc/}
        kill "-$1" "${process%/status}" || :
    done
}
exec 2>>"$folder/log" 3>&1 >>"$folder/log"
"$programs/initdb" -D "$folder/data" -U aloft -A trust -N -E UTF8 --no-locale --no-instructions ||
    end 1
start || { cat "$folder/log" >&3; end 1; }
echo ready >&3
while read -r command; do
    case $command in
        kill) stop ;;
        start) start ;;
        pause) signal STOP ;;
        resume) signal CONT ;;
    esac
    echo "$? $command" >&3
done
end 0
"#;

static SERVER: LazyLock<PostgresServer> = LazyLock::new(|| PostgresServer::start(None, "", &[]));
/// Migrated database that belongs to no master key yet. PostgreSQL copies it.
static MIGRATED: LazyLock<&'static str> = LazyLock::new(|| {
    let address = SERVER.create("migrated");
    migrated::migrate(Database::Postgres(Secret::new(address.clone())));
    execute(&address, ["DELETE FROM aloft.vault".to_owned()]);
    "migrated"
});
static DATABASES: AtomicU32 = AtomicU32::new(0);
/// Databases whose tests have ended.
static UNUSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A server. It stops with the test process, or when it is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    folder: PathBuf,
    port: u16,
    host: Mutex<Host>,
}

/// Hosting shell, which ends with the pipe that this handle keeps open.
#[derive(Debug)]
struct Host {
    process: Child,
    responses: Lines<BufReader<ChildStdout>>,
}

/// Deletes a database after it is dropped itself.
#[derive(Debug)]
pub struct DatabaseGuard {
    name: String,
}

impl DatabaseGuard {
    /// Keeps the database until the test process ends.
    pub fn keep(mut self) {
        self.name.clear();
    }
}

impl Drop for DatabaseGuard {
    fn drop(&mut self) {
        if self.name.is_empty() {
            return;
        }
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        unused.push(std::mem::take(&mut self.name));
    }
}

/// Returns the address of a new, empty database, which stays until the test process ends.
pub fn database() -> String {
    let (address, guard) = guarded_database();
    guard.keep();
    address
}

/// Returns the address of a new, empty database, and its guard.
pub fn guarded_database() -> (String, DatabaseGuard) {
    create("template1")
}

/// Returns the address of a new database with all tables, and its guard.
pub fn migrated_database() -> (String, DatabaseGuard) {
    create(*MIGRATED)
}

/// Runs statements on a database of these tests.
pub fn execute(address: &str, statements: impl IntoIterator<Item = String>) {
    let programs = programs().expect("the programs of PostgreSQL started this database");
    let mut psql = Command::new(programs.join("psql"));
    psql.args(["-q", "-v", "ON_ERROR_STOP=1", "-d", address]);
    for statement in statements {
        psql.args(["-c", &statement]);
    }
    let done = psql.output().expect("psql is in the folder of pg_ctl");
    assert!(done.status.success(), "psql: {}", String::from_utf8_lossy(&done.stderr));
}

/// Creates a database from a template, and deletes those of dropped guards, with one run of `psql`.
fn create(template: &str) -> (String, DatabaseGuard) {
    let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let unused = std::mem::take(&mut *UNUSED.lock().unwrap_or_else(PoisonError::into_inner));
    let drops = unused.iter().map(|name| format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
    let creation = format!("CREATE DATABASE {name} TEMPLATE {template}");
    execute(&SERVER.address("postgres"), drops.chain([creation]));
    (SERVER.address(&name), DatabaseGuard { name })
}

impl PostgresServer {
    /// Starts a server with these options, besides the usual ones, and these files in its folder.
    /// `$folder` in the options is that folder. With a port, it listens on loopback too.
    pub fn start(port: Option<u16>, options: &str, files: &[(&str, &str)]) -> Self {
        let programs = programs().expect(
            "these tests start PostgreSQL, which is not installed: install the package `postgresql` (cargo xtask setup does)",
        );
        let folder = tempfile::tempdir().expect("a temporary folder can be created").keep();
        let listen = if port.is_some() { "127.0.0.1" } else { "" };
        let port = port.unwrap_or(PORT);
        let options = options.replace("$folder", &folder.display().to_string());
        let options = format!("-p {port} -c listen_addresses={listen} {options}");
        let mut shell = Command::new("sh");
        shell.args(["-c", HOST, "sh"]).arg(&programs).arg(&folder).arg(options);
        shell.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut paths = vec![folder.clone()];
        for (name, text) in files {
            let path = folder.join(name);
            fs::write(&path, text).expect("the folder is writable");
            // The server refuses a key that others may read.
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(&path, private).expect("the file is ours");
            paths.push(path);
        }
        // If root runs the tests, the files belong to another user from the start.
        if fs::metadata(&folder).is_ok_and(|folder| folder.uid() == 0) {
            let (user, group) =
                other_user().expect("the machine has a user `postgres` or `nobody`");
            for path in &paths {
                std::os::unix::fs::chown(path, Some(user), Some(group))
                    .expect("root may change the owner");
            }
            shell.uid(user).gid(group);
        }
        let mut process = shell.spawn().expect("every machine has a shell");
        let stdout = process.stdout.take().expect("stdout is piped");
        let mut responses = BufReader::new(stdout).lines();
        let first = responses.next().and_then(Result::ok).unwrap_or_default();
        if first != "ready" {
            let rest: String = responses.map_while(Result::ok).collect();
            panic!("PostgreSQL did not start: {first} {rest}");
        }
        Self { folder, port, host: Mutex::new(Host { process, responses }) }
    }

    /// Creates a database with this name. Returns its address at the socket of the server.
    pub fn create(&self, name: &str) -> String {
        execute(&self.address("postgres"), [format!("CREATE DATABASE {name}")]);
        self.address(name)
    }

    /// Returns the path of a file in the folder of the server.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Kills the server, as a crash does.
    pub fn kill(&self) {
        self.command("kill");
    }

    /// Starts the server again after [`Self::kill`].
    pub fn start_again(&self) {
        self.command("start");
    }

    /// Stops all processes of the server without ending them, as a machine that hangs does.
    pub fn pause(&self) {
        self.command("pause");
    }

    /// Continues the processes after [`Self::pause`].
    pub fn resume(&self) {
        self.command("resume");
    }

    fn command(&self, command: &str) {
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        let stdin = host.process.stdin.as_mut().expect("stdin is piped");
        writeln!(stdin, "{command}").expect("the shell reads commands until its end");
        let response = host.responses.next().and_then(Result::ok).unwrap_or_default();
        let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert_eq!(response, format!("0 {command}"), "PostgreSQL: {}", log());
    }

    fn address(&self, name: &str) -> String {
        // The folder is last, as `flaky_proxy` expects.
        let (port, folder) = (self.port, self.folder.display());
        format!("postgres:///{name}?user=aloft&port={port}&host={folder}")
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let host = self.host.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The end of stdin ends the shell, which removes the files.
        drop(host.process.stdin.take());
        let _ = host.process.wait();
    }
}

/// Returns the folder of the server's programs: the one on the `PATH`, or Debian's newest.
fn programs() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    // The program on the `PATH` may be a link into the folder.
    let linked =
        |folder: PathBuf| Some(folder.join("initdb").canonicalize().ok()?.parent()?.to_owned());
    if let Some(folder) =
        std::env::split_paths(&paths).filter_map(linked).find(|it| is_complete(it))
    {
        return Some(folder);
    }
    let version = |folder: &PathBuf| folder.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    fs::read_dir(DEBIAN)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|it| is_complete(it))
        .max_by_key(version)
}

fn is_complete(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "psql"].iter().all(|program| folder.join(program).exists())
}

/// Returns user and group ids of a user other than root.
fn other_user() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &&str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(*name))?;
        let mut ids = line.split(':').skip(2);
        Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
    };
    USERS.iter().find_map(find)
}
