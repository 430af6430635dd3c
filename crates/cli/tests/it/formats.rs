//! `--json`, `--jq` and `--quiet`: the formats of results for programs.

use crate::process::{Home, Ran};
use crate::user::User;

fn monitor(user: &User, name: &str) -> String {
    let create = ["monitors", "create", "tcp", "--name", name, "--uri", "127.0.0.1:9", "-q"];
    user.done(&[&create[..], &["--periodicity", "1h"]].concat()).trim().to_owned()
}

#[test]
fn jq_prints_results_of_the_json() {
    let user = User::logged_in();
    let (one, _) = (monitor(&user, "one"), monitor(&user, "two"));
    for (args, expected) in [
        (&["monitors", "list", "--jq", ".tcpMonitors[].name"][..], "two\none\n"),
        (&["monitors", "list", "--json", "--jq", ".totalSize"], "2\n"),
        (
            &["monitors", "get", "one", "--jq", ".monitor.tcp | {id}"],
            &format!("{{\"id\":\"{one}\"}}\n"),
        ),
        (&["context", "list", "--jq", ".current"], "acme\n"),
        (&["regions", "list", "--jq", "[.regions[].id] | index(\"fly-ams\")"], "0\n"),
        (&["usage", "--jq", ".workspace.slug"], "acme\n"),
    ] {
        let printed = user.done(args);
        // Lists of the same second have no defined order.
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&printed), sorted(expected), "{args:?}");
    }
}

#[test]
fn impossible_expressions_name_the_place() {
    let home = Home::new();
    let ran = home.run(&["monitors", "list", "--jq", ".a | nmae"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("unknown filter `nmae` at character 6, before `nmae`"), "{}", ran.err);
    let user = User::logged_in();
    let why = user.refused(&["monitors", "list", "--jq", ".totalSize.x"]);
    assert!(why.contains("`--jq .totalSize.x` failed: cannot index"), "{why}");
    let both = user.run(&["monitors", "list", "--jq", ".", "--quiet"]);
    assert_eq!(both.code, Some(2), "{}", both.err);
}

#[test]
fn failed_expression_keeps_a_new_key() {
    let user = User::logged_in();
    let create = ["keys", "create", "--workspace", "acme", "--name", "ci", "--scope", "read"];
    let Ran { out: printed, err: why, .. } = user.run(&[&create[..], &["--jq", ".key.x"]].concat());
    assert!(printed.starts_with("{\"id\":\"key_"), "{printed}");
    assert!(why.contains("the command itself succeeded, so its whole result is printed"), "{why}");
    assert!(!why.contains("key_"), "{why}");
}

// An error quoted the whole result, so that the log of a script had the address of a webhook.
#[test]
fn failed_expression_quotes_no_secret() {
    let user = User::logged_in();
    let url = "https://example.com/hook/s3cr3t";
    user.done(&["channels", "create", "--name", "hook", "--webhook", url]);
    let get = ["channels", "get", "hook", "--jq", ".notification.webhook.endpoint.x"];
    let Ran { out, err: why, .. } = user.run(&get);
    assert_eq!(out, "");
    assert!(why.contains("`--json` shows what it prints") && !why.contains("s3cr3t"), "{why}");
}

// An unset variable in a script deleted the only channel without a name.
#[test]
fn empty_name_selects_nothing() {
    let user = User::logged_in();
    user.done(&["channels", "create", "--webhook", "https://example.com/hook"]);
    for args in [
        &["channels", "delete", "", "--yes"][..],
        &["channels", "test", " "],
        &["monitors", "get", ""],
        &["pages", "delete", "", "--yes"],
    ] {
        let why = user.refused(args);
        assert!(why.contains("this one is empty"), "{args:?}: {why}");
    }
    assert!(user.done(&["channels", "list", "--quiet"]).starts_with("chn_"));
}

#[test]
fn quiet_prints_ids_or_nothing() {
    let user = User::logged_in();
    let id = monitor(&user, "one");
    assert_eq!(user.done(&["monitors", "status", "one", "--quiet"]), format!("{id}\n"));
    let plan = ["maintenance", "plan", "--title", "M", "--for", "2h", "--monitor", "one", "-q"];
    assert!(user.done(&plan).starts_with("mnt_"));
    for list in ["incidents", "reports", "subscribers", "pages"] {
        assert_eq!(user.done(&[list, "list", "--quiet"]), "", "{list}");
    }
}

#[test]
fn output_without_a_terminal_has_no_colours() {
    let user = User::logged_in();
    monitor(&user, "one");
    for args in [&["monitors", "list"][..], &["--help"], &["monitors", "--help"]] {
        assert!(!user.done(args).contains('\u{1b}'), "{args:?}");
    }
}

// The only copy of a new key was lost without an error.
#[test]
fn full_disk_is_reported() {
    let user = User::logged_in();
    monitor(&user, "one");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = user.command(&["monitors", "list", "--json"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(why.contains("the output was not written: No space left on device"), "{why}");
}
