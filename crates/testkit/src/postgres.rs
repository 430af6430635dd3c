//! A PostgreSQL server for the test process, from the installed programs. It listens on a socket in
//! a temporary folder and does not sync to disk, for speed. `ALOFT_TEST_FSYNC=on` turns syncing on
//! for measurements. A shell hosts the server and stops it when its stdin closes, however the test
//! process ends. Each test gets its own database, which is deleted after the test: hundreds of them
//! would fill the disk.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Folder in which Debian-based systems install the server's programs, with a folder for each
/// version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Users to run the server as if root runs the tests, because PostgreSQL refuses to run as root.
const USERS: &[&str] = &["postgres", "nobody"];

/// Script that creates the files, starts the server, prints `ready` and waits for the end of stdin.
/// Then it stops the server and removes the files.
const HOST: &str = r#"
trap '' INT TERM HUP
end() { "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"; exit "$3"; }
exec 2>>"$2/log"
"$1/initdb" -D "$2/data" -U aloft -A trust -N -E UTF8 --no-locale --no-instructions >>"$2/log" ||
    end "$1" "$2" 1
"$1/pg_ctl" -D "$2/data" -l "$2/log" -w start >>"$2/log" -o "-k $2 -c listen_addresses= \
    -c fsync=${ALOFT_TEST_FSYNC:-off} -c full_page_writes=${ALOFT_TEST_FSYNC:-off} \
    -c autovacuum=off -c max_connections=400 \
    -c wal_level=minimal -c max_wal_senders=0 -c max_wal_size=128MB" ||
    { cat "$2/log"; end "$1" "$2" 1; }
echo ready
cat
end "$1" "$2" 0
"#;

static SERVER: LazyLock<Server> = LazyLock::new(Server::start);
static DATABASES: AtomicU32 = AtomicU32::new(0);
/// Databases whose tests have ended.
static UNUSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// Hosting shell, which waits for the end of the pipe that this handle keeps open.
    _host: Child,
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
    let (address, name) = create();
    (address, DatabaseGuard { name })
}

/// Runs a statement on a database of these tests.
pub fn execute(address: &str, statement: &str) {
    let mut psql = Command::new(SERVER.programs.join("psql"));
    psql.args(["-q", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", statement]);
    let done = psql.output().expect("psql is in the folder of pg_ctl");
    assert!(done.status.success(), "psql: {}", String::from_utf8_lossy(&done.stderr));
}

/// Creates a database, and deletes those of dropped guards, with one run of `psql`. Returns its address
/// and its name.
fn create() -> (String, String) {
    let server = &*SERVER;
    let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let unused = std::mem::take(&mut *UNUSED.lock().unwrap_or_else(PoisonError::into_inner));
    let drops = unused.iter().map(|name| format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
    let mut psql = Command::new(server.programs.join("psql"));
    psql.args(["-q", "-v", "ON_ERROR_STOP=1", "-U", "aloft", "-d", "postgres", "-h"]);
    psql.arg(&server.folder);
    for statement in drops.chain([format!("CREATE DATABASE {name}")]) {
        psql.args(["-c", &statement]);
    }
    let made = psql.output().expect("psql is in the folder of pg_ctl");
    assert!(made.status.success(), "psql: {}", String::from_utf8_lossy(&made.stderr));
    let address = format!("postgres:///{name}?user=aloft&host={}", server.folder.display());
    (address, name)
}

impl Server {
    fn start() -> Self {
        let programs = programs().expect(
            "these tests start PostgreSQL, which is not installed: install the package `postgresql` (cargo xtask setup does)",
        );
        let folder = tempfile::tempdir().expect("a temporary folder can be created").keep();
        let mut host = Command::new("sh");
        host.args(["-c", HOST, "sh"]).arg(&programs).arg(&folder).current_dir(&folder);
        host.stdin(Stdio::piped()).stdout(Stdio::piped());
        // If root runs the tests, the files belong to another user from the start.
        if fs::metadata(&folder).is_ok_and(|folder| folder.uid() == 0) {
            let (user, group) =
                other_user().expect("the machine has a user `postgres` or `nobody`");
            std::os::unix::fs::chown(&folder, Some(user), Some(group))
                .expect("root may change the owner");
            host.uid(user).gid(group);
        }
        let mut host = host.spawn().expect("every machine has a shell");
        let stdout = host.stdout.take().expect("stdout is piped");
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        assert_eq!(first, "ready", "PostgreSQL did not start: {}", lines.collect::<String>());
        Self { programs, folder, _host: host }
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
