//! Kills `aloft restore` at each of its steps: the folder has the old database or the new one, and
//! never an empty one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::process::Home;

/// Slugs of the workspaces before and after the restore.
const OLD: &str = "new-team";
const NEW: &str = "acme";

/// Creates a folder whose server was killed, so that its last workspace is only in the log, and a
/// backup without that workspace.
fn killed() -> Home {
    let (home, _) = Home::with_key();
    assert_eq!(home.run(&["backup", "copy.db"]).code, Some(0));
    let server = home.serve();
    let made = home.run(&["workspaces", "create", "--slug", OLD, "--name", "New"]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    server.kill();
    home
}

fn slugs(home: &Home, data: &str) -> Vec<String> {
    let listed = home.json(&["workspaces", "list", "--data", data]);
    let slugs = listed.as_array().unwrap().iter();
    slugs.map(|it| it["slug"].as_str().unwrap().to_owned()).collect()
}

/// Copies a data folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        // A socket cannot be copied, and is not part of the data.
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// Restores the backup into a folder, with these faults.
fn restore(home: &Home, data: &str, faults: &[(&str, &str)]) -> ExitStatus {
    let library = testkit::faults::library(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let mut command = home.command(&["restore", "copy.db", "--data", data]);
    command.env("LD_PRELOAD", library).envs(faults.iter().copied());
    command.output().unwrap().status
}

// issue 16, point 8
#[test]
fn killed_restore_leaves_old_or_new_database() {
    let home = killed();
    let count = home.path().join("count");
    copy(&home.data(), &home.path().join("counted"));
    let done = restore(&home, "counted", &[("FAULTS_COUNT", count.to_str().unwrap())]);
    assert!(done.success());
    assert_eq!(slugs(&home, "counted"), [NEW]);
    let steps: u64 = fs::read_to_string(count).unwrap().parse().unwrap();
    assert!(steps > 20, "{steps} steps");
    // Most steps prepare the backup. The last ones decide and move.
    let last = 30.min(steps);
    let early = (1..=steps - last).step_by(((steps - last) / 12).max(1) as usize);
    let mut seen = [0_u32; 2];
    for step in early.chain(steps - last + 1..=steps) {
        let data = format!("killed-{step}");
        copy(&home.data(), &home.path().join(&data));
        let step_text = step.to_string();
        assert!(!restore(&home, &data, &[("FAULTS_KILL_AT", &step_text)]).success(), "{step}");
        let found = slugs(&home, &data);
        let is_new = found == [NEW];
        assert!(is_new || found == [OLD, NEW], "step {step} of {steps}: {found:?}");
        seen[usize::from(is_new)] += 1;
        let folder = home.path().join(&data);
        for left in ["aloft.restore", "aloft.restore.new", "restoring"] {
            let is_left = folder.join(left).exists() && left != "aloft.restore.new";
            assert!(!is_left, "step {step}: `{left}` is left");
        }
        // Another restore succeeds, and the first copy stays unchanged.
        if is_new {
            let first = fs::read(folder.join("aloft.db.before-restore")).unwrap();
            assert!(restore(&home, &data, &[]).success());
            assert_eq!(fs::read(folder.join("aloft.db.before-restore")).unwrap(), first);
            assert!(folder.join("aloft.db.before-restore.2").exists());
        } else {
            assert!(restore(&home, &data, &[]).success());
            assert_eq!(slugs(&home, &data), [NEW]);
        }
        fs::remove_dir_all(folder).unwrap();
    }
    assert!(seen.iter().all(|count| *count > 0), "old and new: {seen:?}");
}

#[test]
fn server_finishes_interrupted_restore_and_logs_it() {
    let home = killed();
    fs::create_dir(home.data().join("restoring")).unwrap();
    fs::copy(home.path().join("copy.db"), home.data().join("restoring/aloft.db")).unwrap();
    let intent = r#"{"backup":"/copy.db","replaced":"aloft.db.before-restore"}"#;
    fs::write(home.data().join("aloft.restore"), intent).unwrap();
    let server = home.serve();
    let log_text = server.log();
    assert!(log_text.contains("finished an interrupted restore"), "{log_text}");
    assert!(log_text.contains("aloft.db.before-restore"), "{log_text}");
    assert_eq!(slugs(&home, "data"), [NEW]);
    assert!(server.stop().success());
    // The replaced database is complete: with its log it has the workspace that only the log had.
    let back = home.run(&["restore", "data/aloft.db.before-restore"]);
    assert_eq!(back.code, Some(0), "{}", back.err);
    assert_eq!(slugs(&home, "data"), [OLD, NEW]);
}

#[test]
fn server_discards_undecided_restore_and_logs_it() {
    let home = killed();
    fs::create_dir(home.data().join("restoring")).unwrap();
    fs::write(home.data().join("restoring/aloft.db"), "half a copy").unwrap();
    let server = home.serve();
    let log_text = server.log();
    assert!(log_text.contains("an interrupted restore changed nothing"), "{log_text}");
    assert_eq!(slugs(&home, "data"), [OLD, NEW]);
    assert!(!home.data().join("restoring").exists());
}
