//! A second server on the PostgreSQL database of a running one, which must say what is wrong with it.

use std::fs;
use std::path::PathBuf;

use testkit::postgres;

use crate::process::{Home, Ran};

/// Another master key: 32 bytes in base64.
const OTHER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// Runs a server that cannot start.
fn refused(home: &Home, database: &str, variables: &[(&str, &str)]) -> Ran {
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database", database];
    let ran = home.run_with(&serve, variables);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    ran
}

// issue 19, bad input: "a replica with another encryption key, an older schema or a clock 5 s off
// PostgreSQL's"
#[test]
fn unfit_second_server_is_refused_with_the_cause() {
    let database = postgres::database();
    let (first, second) = (Home::new(), Home::new());
    let server = first.serve_with(&["--database", &database]);
    fs::create_dir(second.data()).unwrap();

    let missing = refused(&second, &database, &[]);
    assert!(missing.err.contains("the database is encrypted with it"), "{}", missing.err);
    let other = refused(&second, &database, &[("ALOFT_MASTER_KEY", OTHER_KEY)]);
    assert!(other.err.contains("encrypted with another master key"), "{}", other.err);

    let key = fs::read_to_string(first.data().join("aloft.key")).unwrap();
    let own = ("ALOFT_MASTER_KEY", key.trim());
    let library = testkit::faults::library(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let clock = second.path().join("clock");
    let variables =
        [own, ("LD_PRELOAD", library.to_str().unwrap()), ("FAULTS_CLOCK", clock.to_str().unwrap())];
    for (jump, side) in [("6", "ahead of"), ("-6", "behind")] {
        fs::write(&clock, jump).unwrap();
        let apart = refused(&second, &database, &variables);
        assert!(apart.err.contains("the clock of this machine is "), "{}", apart.err);
        assert!(apart.err.contains(&format!(" s {side} the database server's")), "{}", apart.err);
    }
    // A fit one is only told who holds the database, even if its clock is a little off.
    fs::write(&clock, "3").unwrap();
    let held = refused(&second, &database, &variables);
    assert!(held.err.contains("the database is in use by aloft process"), "{}", held.err);

    let newer = "INSERT INTO aloft.migrations SELECT 999, checksum FROM aloft.migrations LIMIT 1";
    postgres::execute(&database, [newer.to_owned()]);
    let older = refused(&second, &database, &[own]);
    assert!(older.err.contains("the database has version 999"), "{}", older.err);
    assert_eq!(server.get("/readyz", None).status, 200, "the first one is not disturbed");
    assert!(server.stop().success());
}
