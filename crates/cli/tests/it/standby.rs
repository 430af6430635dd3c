//! Two servers with one PostgreSQL: the second one ends while the first one runs, as often as it is started, and
//! takes over after the first one stopped.

use testkit::postgres;

use crate::process::Home;

/// Master key of both servers.
const KEY: &str = "c3RhbmRieSBrZXkgb2YgMzIgYnl0ZXMgZm9yIHRlc3Q=";

// issue 19, point 7: rolling upgrades. The unit in `packaging/systemd` starts a standby again and again.
#[test]
fn standby_takes_over_after_an_orderly_stop() {
    let database = postgres::database();
    let shared = [("ALOFT_DATABASE", database.as_str()), ("ALOFT_MASTER_KEY", KEY)];
    let (first, second) = (Home::new(), Home::new());
    let running = first.serve_under(&shared);
    let create = ["workspaces", "create", "--slug", "acme", "--name", "Acme"];
    let created = first.run_with(&create, &shared);
    assert_eq!(created.code, Some(0), "{}", created.err);

    let refused = second.run_with(&["serve", "--listen", "127.0.0.1:0"], &shared);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    let holder = format!("aloft process {}", running.pid());
    assert!(refused.err.contains(&holder), "{}", refused.err);
    assert_eq!(running.get("/readyz", None).status, 200);

    assert!(running.stop().success());
    let standby = second.serve_under(&shared);
    assert_eq!(standby.get("/readyz", None).status, 200);
    let listed = second.run_with(&["workspaces", "list"], &shared);
    assert!(listed.out.contains("acme"), "{} {}", listed.out, listed.err);
    assert!(standby.stop().success());
}
