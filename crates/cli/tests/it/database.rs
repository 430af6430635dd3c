//! `aloft backup`, `aloft restore` and `aloft migrate`, and a server on PostgreSQL.

use serde_json::json;
use testkit::postgres;

use crate::process::{Home, http_monitor};

fn names(home: &Home) -> Vec<String> {
    let listed = home.json(&["workspaces", "list"]);
    let slugs = listed.as_array().unwrap().iter().map(|it| it["slug"].as_str().unwrap().to_owned());
    slugs.collect()
}

// issue 4: "`aloft backup` and `aloft restore` of the embedded database while it runs"
#[test]
fn backup_runs_beside_server_and_restores_without_it() {
    let (home, _) = Home::with_key();
    let server = home.serve();
    let copied = home.run(&["backup", "copy.db"]);
    assert_eq!((copied.code, copied.err.as_str()), (Some(0), ""));
    assert!(copied.out.contains("keep a copy of `aloft.key`"), "{}", copied.out);
    home.json(&["workspaces", "create", "--slug", "later", "--name", "Later"]);
    let refused = home.run(&["restore", "copy.db"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("stop that server"), "{}", refused.err);
    assert!(server.stop().success());
    let restored = home.run(&["restore", "copy.db"]);
    assert_eq!((restored.code, restored.err.as_str()), (Some(0), ""));
    assert_eq!(names(&home), ["acme"]);
}

// issue 4: "`aloft migrate --from sqlite:… --to postgres:…`"
#[test]
fn migrated_server_continues_on_postgresql_with_its_data() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    let monitor = http_monitor("api", "http://127.0.0.1:9/", &["fly-ams"]);
    let made = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    assert!(server.stop().success());
    let database = postgres::database();
    let carried = home.run(&["migrate", "--from", "sqlite:data", "--to", &database]);
    assert_eq!((carried.code, carried.err.as_str()), (Some(0), ""));
    assert!(carried.out.contains("copied and compared"), "{}", carried.out);

    let server = home.serve_with(&["--allow-private-networks", "--database", &database]);
    let id = &made["monitor"]["id"];
    let read = server.rpc(&key, "GetMonitor", &json!({ "id": id }));
    assert_eq!(read["monitor"]["http"]["url"], made["monitor"]["url"], "{read}");
    assert!(server.stop().success());
    let again = home.run(&["migrate", "--from", "sqlite:data", "--to", &database]);
    assert!(again.err.contains("was transferred to PostgreSQL"), "{}", again.err);
    // Commands without the new database must not work on the old one.
    for command in [["keys", "list"], ["workspaces", "list"], ["backup", "copy.db"]] {
        let refused = home.run(&command);
        assert_eq!(refused.code, Some(1), "{command:?}: {}", refused.out);
        assert!(refused.err.contains("ALOFT_DATABASE"), "{command:?}: {}", refused.err);
    }
}

#[test]
fn invalid_database_address_names_the_valid_forms() {
    let home = Home::new();
    let refused = home.run(&["migrate", "--from", "mysql://x", "--to", "sqlite:data"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("sqlite:DIR or postgres://"), "{}", refused.err);
    let refused = home.run(&["migrate", "--from", "sqlite:a", "--to", "sqlite:b"]);
    assert!(refused.err.contains("aloft backup"), "{}", refused.err);
}
