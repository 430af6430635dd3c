//! Uptime Kuma: a database that 2.5.3 wrote, set up through its own interface, one with the schema that
//! 1.23.16 makes, and a backup in the shape of 1.23.

use std::fs;
use std::path::Path;

use aloft_import::{HistoryTotals, Peer, SecretStyle};
use rusqlite::Connection;
use tempfile::{TempDir, tempdir};

use crate::support::{assert_data, configuration, data, import_of, unpacked};

const KUMA: Peer = Peer::UptimeKuma;

fn database(version: &str) -> (TempDir, std::path::PathBuf) {
    let folder = tempdir().unwrap();
    let path = unpacked(&format!("kuma-{version}.db.gz"), folder.path(), "kuma.db");
    (folder, path)
}

/// Returns the error of an import, without the path of the folder.
fn error_of(path: &Path) -> String {
    let folder = format!("{}/", path.parent().unwrap().display());
    import_of(KUMA, path).unwrap_err().replace(&folder, "")
}

#[test]
fn database_of_version_2_is_imported() {
    let (_folder, path) = database("2.5.3");
    let (text, preview) = configuration(KUMA, &path);
    assert_data("kuma-2.5.3.yaml", &text);
    assert_data("kuma-2.5.3.txt", &preview);
}

#[test]
fn database_of_version_1_is_imported() {
    let (_folder, path) = database("1.23.16");
    let (text, preview) = configuration(KUMA, &path);
    assert_data("kuma-1.23.16.yaml", &text);
    assert_data("kuma-1.23.16.txt", &preview);
}

#[test]
fn backup_is_imported() {
    let (text, preview) = configuration(KUMA, &data("kuma-backup.json"));
    assert_data("kuma-backup.yaml", &text);
    assert_data("kuma-backup.txt", &preview);
}

#[test]
fn import_leaves_the_folder_unchanged() {
    let (folder, path) = database("2.5.3");
    let before = fs::read(&path).unwrap();
    import_of(KUMA, folder.path()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn rows_in_the_write_ahead_log_are_read() {
    let (_folder, path) = database("2.5.3");
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.execute("UPDATE monitor SET name = 'Newer' WHERE id = 6", []).unwrap();
    assert!(path.with_extension("db-wal").metadata().unwrap().len() > 0);
    let (text, _) = configuration(KUMA, &path);
    assert!(text.contains("name: Newer"), "{text}");
}

#[test]
fn unusable_files_are_named_with_a_remedy() {
    let (folder, path) = database("2.5.3");
    let whole = fs::read(&path).unwrap();
    let written = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        error_of(&path)
    };
    for (name, bytes, expected) in [
        ("empty", &b""[..], "`empty` is empty; copy `kuma.db` again while Uptime Kuma is stopped"),
        (
            "half",
            &whole[..whole.len() / 2],
            "`half` has 139264 bytes of 278528; copy the whole file again while Uptime Kuma is stopped",
        ),
        (
            "head",
            &whole[..40],
            "`head` has 40 bytes of 278528; copy the whole file again while Uptime Kuma is stopped",
        ),
        (
            "png",
            &b"\x89PNG\r\n"[..],
            "`png` is not UTF-8 text (line 1); give the file that the documentation names",
        ),
        (
            "text",
            &b"monitor: a"[..],
            "`text` is neither a database nor a backup; give the file `kuma.db`, or a JSON backup of Uptime Kuma 1.x",
        ),
        (
            "other.json",
            &b"{\"a\": 1}"[..],
            "`other.json` has no `monitorList`; give a file that Uptime Kuma 1.x exported under Settings, Backup",
        ),
        (
            "cut.json",
            &b"{\"monitorList\": [\n{"[..],
            "`cut.json`, line 2, column 1: EOF while parsing an object",
        ),
    ] {
        assert_eq!(written(name, bytes), expected);
    }
    let mut damaged = whole.clone();
    damaged[4096 * 3..4096 * 40].fill(0x5a);
    assert!(
        written("damaged", &damaged)
            .starts_with("`damaged` is damaged (database disk image is malformed")
    );
    let missing = folder.path().join("missing.db");
    assert!(error_of(&missing).starts_with("failed to read `missing.db`: No such file"));
}

#[test]
fn old_database_names_its_missing_column() {
    let (folder, path) = database("1.23.16");
    let change = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    change("ALTER TABLE monitor DROP COLUMN timeout");
    let expected = "`kuma.db` lacks the column `timeout` of the table `monitor`, which Uptime Kuma 1.23 added; \
        start Uptime Kuma 1.23 or newer once with this database, which upgrades it";
    assert_eq!(error_of(&path), expected);
    change("DROP TABLE status_page; ALTER TABLE monitor ADD COLUMN timeout DOUBLE");
    assert!(error_of(&path).contains("the column `slug` of the table `status_page`"));
    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    assert!(error_of(&other).contains("is not a database of Uptime Kuma"));
}

#[test]
fn locked_or_interrupted_database_is_refused() {
    let (_folder, path) = database("2.5.3");
    let journal = path.with_extension("db-journal");
    fs::write(&journal, b"x").unwrap();
    let expected = "`kuma.db` is in the middle of a transaction (a `-journal` file lies beside it); \
        stop Uptime Kuma properly, and copy `kuma.db` again";
    assert_eq!(error_of(&path), expected);
}

#[test]
fn database_without_objects_is_refused() {
    let (_folder, path) = database("1.23.16");
    let all = "DELETE FROM monitor; DELETE FROM notification; DELETE FROM status_page; DELETE FROM user; \
        DELETE FROM proxy; DELETE FROM maintenance; DELETE FROM incident; DELETE FROM setting;";
    Connection::open(&path).unwrap().execute_batch(all).unwrap();
    let expected =
        "`kuma.db` has nothing of Uptime Kuma to import; check that it is the right file";
    assert_eq!(error_of(&path), expected);
}

#[test]
fn hostile_names_become_valid_ones() {
    let (_folder, path) = database("2.5.3");
    let long = "x".repeat(10_000);
    let connection = Connection::open(&path).unwrap();
    for (id, name) in
        [(2, "a\u{1b}[31m\n\0b"), (3, "../../etc/passwd"), (6, long.as_str()), (7, "")]
    {
        connection
            .execute(
                "UPDATE monitor SET name = ?1, headers = '{\"a b\": \"c\"}' WHERE id = ?2",
                (name, id),
            )
            .unwrap();
    }
    drop(connection);
    let (text, preview) = configuration(KUMA, &path);
    for expected in ["  etc-passwd:\n", "  a-31m-b:\n", "  unnamed:\n", "name: unnamed\n"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(text.lines().chain(preview.lines()).all(|line| !line.contains(char::is_control)));
    assert!(text.lines().all(|line| line.chars().count() < 400));
    assert!(preview.contains("`headers[0].key` must be a header name"), "{preview}");
}

#[test]
fn heartbeats_are_exported_as_lines() {
    let (_folder, path) = database("2.5.3");
    let import = import_of(KUMA, &path).unwrap();
    let mut lines = Vec::new();
    let totals = import.write_history(&mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let mut lines = lines.lines();
    assert_eq!(
        lines.next().unwrap(),
        r#"{"type":"header","format":"aloft-history","version":1,"source":"uptime-kuma"}"#
    );
    let first = r#"{"type":"result","monitor":"shop","at":"2026-11-27T22:09:05.817Z","status":"up","latencyMs":13.0,"message":"200 - OK, keyword is found"}"#;
    assert_eq!(lines.next().unwrap(), first);
    let last = lines.last().unwrap();
    assert!(
        last.starts_with(
            r#"{"type":"incident","page":"acme","title":"Slow checkout","startedAt":"#
        ),
        "{last}"
    );
    assert_eq!(totals, HistoryTotals { results: 26, incidents: 1, skipped: 16 });
}

#[test]
fn inline_secrets_replace_variables() {
    let (_folder, path) = database("2.5.3");
    let import = import_of(KUMA, &path).unwrap();
    let named = import.write(SecretStyle::Named);
    let inline = import.write(SecretStyle::Inline);
    assert!(inline.text.contains("token: tk_0123456789") && !inline.text.contains("env:"));
    assert!(!named.text.contains("tk_0123456789"));
    assert!(named.secrets.contains("CHANNEL_TELEPHONE_TOKEN=tk_0123456789\n"));
    assert_eq!(inline.secrets, "");
    assert!(!named.preview.to_text().contains("tk_0123456789"));
}
