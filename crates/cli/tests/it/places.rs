//! The database or service of each command: which one it uses, that it prints it, and that only
//! `serve` creates a database.

use std::fs;

use crate::process::Home;

/// Commands that need a database.
const COMMANDS: &[&[&str]] = &[
    &["keys", "list"],
    &["keys", "create", "--workspace", "acme", "--name", "ci", "--scope", "read"],
    &["keys", "revoke", "key_0000000000000"],
    &["workspaces", "list"],
    &["workspaces", "create", "--slug", "acme", "--name", "Acme"],
    &["workspaces", "set-retention", "--slug", "acme"],
    &["backup", "copy.db"],
];

// issue 16, point 25
#[test]
fn folder_without_database_is_rejected_and_unchanged() {
    let home = Home::new();
    for folder in ["missing", "empty"] {
        if folder == "empty" {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        for command in COMMANDS {
            let refused = home.run(&[*command, &["--data", folder]].concat());
            assert_eq!(refused.code, Some(1), "{command:?}");
            assert_eq!(home.masked(&refused.place), format!("data folder: [home]/{folder}\n"));
            let why = home.masked(&refused.err);
            let expected = format!("error: there is no database at `[home]/{folder}/aloft.db`; ");
            assert!(why.starts_with(&expected), "{command:?}: {why}");
            assert!(why.contains(&format!("aloft serve --data '[home]/{folder}'")), "{why}");
        }
    }
    assert!(!home.path().join("missing").exists());
    assert_eq!(fs::read_dir(home.path().join("empty")).unwrap().count(), 0);
    assert!(!home.path().join("copy.db").exists());
}

#[test]
fn missing_postgresql_schema_is_rejected_and_not_created() {
    let home = Home::new();
    let database = testkit::postgres::database();
    let refused = home.run(&["workspaces", "list", "--database", &database]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.starts_with("error: there is no database at `postgres://"),
        "{}",
        refused.err
    );
    assert!(refused.place.contains("\ndatabase: postgres://"), "{}", refused.place);
    let again = home.run(&["workspaces", "list", "--database", &database]);
    assert_eq!(again.err, refused.err);
}

#[test]
fn file_and_variables_apply_to_every_command() {
    let home = Home::with_database();
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir_all(elsewhere.join("deeper")).unwrap();
    // A relative path in the file is relative to the file's folder, wherever the command runs.
    fs::write(elsewhere.join("aloft.toml"), "data = '../data'\nlisten = '127.0.0.1:9'\n").unwrap();
    let run = |args: &[&str], folder: &str, variables: &[(&str, &str)]| {
        let mut command = home.command(args);
        command.env_remove("ALOFT_DATA").current_dir(home.path().join(folder));
        let output = command.envs(variables.iter().copied()).output().unwrap();
        (output.status.code(), home.masked(&String::from_utf8(output.stderr).unwrap()))
    };
    let file = [("ALOFT_CONFIG", "../aloft.toml")];
    let key = ("SERVICE_API_KEY", "key");
    let listed = Some(0);
    let expected = "data folder: [home]/data\n".to_owned();
    for (args, folder, variables) in [
        (&["workspaces", "list"][..], "elsewhere", &[][..]),
        (&["workspaces", "list"], "elsewhere/deeper", &file),
        (&["workspaces", "list", "--config", "aloft.toml"], "elsewhere", &[]),
        (&["workspaces", "list"], "elsewhere/deeper", &[("ALOFT_DATA", "../../data")]),
        (&["workspaces", "list", "--data", "../data"], "elsewhere", &[("ALOFT_DATA", "nowhere")]),
    ] {
        // A temporary folder may be behind a symbolic link.
        let (code, printed) = run(args, folder, variables);
        assert!(printed.ends_with(&expected["data folder: [home]".len()..]), "{args:?}: {printed}");
        assert!(!printed.contains(".."), "{args:?}: {printed}");
        assert_eq!(code, listed, "{args:?} {folder}: {printed}");
    }
    for args in [&["incidents", "list"][..], &["pages", "list"], &["terraform", "export"]] {
        let (code, printed) = run(args, "elsewhere", &[key]);
        assert_eq!(code, Some(1), "{printed}");
        assert!(printed.starts_with("service: http://127.0.0.1:9/rpc\n"), "{args:?}: {printed}");
    }
    let given = ("SERVICE_API_URL", "http://127.0.0.1:10/rpc");
    let (_, printed) = run(&["incidents", "list"], "elsewhere", &[key, given]);
    assert!(printed.starts_with("service: http://127.0.0.1:10/rpc\n"), "{printed}");
    // Private networks stay blocked for checks unless the settings allow them.
    let open = [("ALOFT_ALLOW_PRIVATE_NETWORKS", "true")];
    let check = ["check", "tcp", "127.0.0.1:9", "--json"];
    let refusal = |variables: &[(&str, &str)]| {
        let output = home.command(&check).envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains("address_refused")
    };
    assert_eq!((refusal(&[]), refusal(&open)), (true, false));
}

#[test]
fn socket_of_a_long_path_is_found() {
    let home = Home::new();
    let long = "a".repeat(120);
    let folder = format!("{long}/data");
    let server = home.serve_with(&["--data", &folder]);
    let made =
        home.run(&["workspaces", "create", "--slug", "acme", "--name", "Acme", "--data", &folder]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    assert!(server.stop().success());
}

// issue 16, point 8: "A data folder that had workspaces never starts empty without `--fresh`"
#[test]
fn emptied_folder_starts_only_with_fresh() {
    let (home, _) = Home::with_key();
    fs::remove_file(home.data().join("aloft.db")).unwrap();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let refused = home.run(&serve);
    assert_eq!(refused.code, Some(1));
    let why = home.masked(refused.err.lines().last().unwrap());
    insta::assert_snapshot!(why, @"error: the data folder `[home]/data` has held workspaces, and its database is missing or empty; put the database back, restore a backup with `aloft restore --data '[home]/data' FILE`, or start with nothing by `aloft serve --data '[home]/data' --fresh`");
    assert!(!home.data().join("aloft.db").exists());
    let server = home.serve_with(&["--fresh"]);
    home.json(&["workspaces", "create", "--slug", "new", "--name", "New"]);
    assert!(server.stop().success());
    let refused = home.run(&[&serve[..], &["--fresh"]].concat());
    assert!(refused.err.contains("has 1 workspace; leave `--fresh` out"), "{}", refused.err);
    assert!(home.serve().stop().success());
}
