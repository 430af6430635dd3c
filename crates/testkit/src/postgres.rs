//! A PostgreSQL of the test process's own, from the programs that are installed: on a socket in a
//! temporary folder, for speed without a sync to disk (`ALOFT_TEST_FSYNC=on` measures with it). It ends with the process, however that ends: a
//! shell that hosts it waits for the end of a pipe. Each test gets a database of its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where Debian and its kin keep the server's programs, in a folder for each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Who may run the server where the tests are run by root, which it refuses.
const USERS: &[&str] = &["postgres", "nobody"];

/// Makes the files, starts the server, says so, and waits for the end of the standard input; then
/// stops the server and takes everything away.
const HOST: &str = r#"
trap '' INT TERM HUP
end() { "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"; exit "$3"; }
exec 2>>"$2/log"
"$1/initdb" -D "$2/data" -U aloft -A trust -N -E UTF8 --no-locale --no-instructions >>"$2/log" ||
    end "$1" "$2" 1
"$1/pg_ctl" -D "$2/data" -l "$2/log" -w start >>"$2/log" -o "-k $2 -c listen_addresses= \
    -c fsync=${ALOFT_TEST_FSYNC:-off} -c full_page_writes=${ALOFT_TEST_FSYNC:-off} \
    -c autovacuum=off -c max_connections=400" ||
    { cat "$2/log"; end "$1" "$2" 1; }
echo ready
cat
end "$1" "$2" 0
"#;

static SERVER: LazyLock<Server> = LazyLock::new(Server::start);
static DATABASES: AtomicU32 = AtomicU32::new(0);

struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// Its shell, which waits for the end of the pipe that this holds.
    _host: Child,
}

/// The address of a new and empty database.
pub fn database() -> String {
    let server = &*SERVER;
    let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let made = Command::new(server.programs.join("createdb"))
        .args(["-U", "aloft", "-h"])
        .arg(&server.folder)
        .arg(&name)
        .output()
        .expect("createdb stands beside pg_ctl");
    assert!(made.status.success(), "createdb: {}", String::from_utf8_lossy(&made.stderr));
    format!("postgres:///{name}?user=aloft&host={}", server.folder.display())
}

impl Server {
    fn start() -> Self {
        let programs = programs().expect(
            "these tests start PostgreSQL, which is not installed: install the package `postgresql` (cargo xtask setup does)",
        );
        let folder = tempfile::tempdir().expect("the machine has room for a folder").keep();
        let mut host = Command::new("sh");
        host.args(["-c", HOST, "sh"]).arg(&programs).arg(&folder).current_dir(&folder);
        host.stdin(Stdio::piped()).stdout(Stdio::piped());
        // A process that root runs belongs to somebody else from the start on.
        if fs::metadata(&folder).is_ok_and(|folder| folder.uid() == 0) {
            let (user, group) =
                other_user().expect("the machine has a user `postgres` or `nobody`");
            std::os::unix::fs::chown(&folder, Some(user), Some(group)).expect("root may do that");
            host.uid(user).gid(group);
        }
        let mut host = host.spawn().expect("every machine has a shell");
        let said = host.stdout.take().expect("it was asked for as a pipe");
        let mut lines = BufReader::new(said).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        assert_eq!(first, "ready", "PostgreSQL did not start: {}", lines.collect::<String>());
        Self { programs, folder, _host: host }
    }
}

/// The folder of the server's programs: where the path leads to, or the newest of Debian's.
fn programs() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    // What stands on the path may be a link to one program of the folder.
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
    ["initdb", "pg_ctl", "createdb"].iter().all(|program| folder.join(program).exists())
}

/// User and group of somebody who is not root.
fn other_user() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &&str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(*name))?;
        let mut ids = line.split(':').skip(2);
        Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
    };
    USERS.iter().find_map(find)
}
