//! Saved answers of OpenStatus, Better Stack, UptimeRobot and Statuspage.

use std::fs;

use aloft_import::{HistoryTotals, Peer};
use tempfile::tempdir;

use crate::support::{assert_data, configuration, data, import_of};

/// Imports a folder of the test data, and compares configuration, preview and history.
fn compare(peer: Peer) -> HistoryTotals {
    let name = peer.word();
    let (text, preview) = configuration(peer, &data(name));
    assert_data(&format!("{name}.yaml"), &text);
    assert_data(&format!("{name}.txt"), &preview);
    let mut history = Vec::new();
    let totals = import_of(peer, &data(name)).unwrap().write_history(&mut history).unwrap();
    assert_data(&format!("{name}.jsonl"), &String::from_utf8(history).unwrap());
    totals
}

#[test]
fn answers_of_openstatus_are_imported() {
    assert_eq!(compare(Peer::OpenStatus).incidents, 1);
}

#[test]
fn answers_of_better_stack_are_imported() {
    assert_eq!(compare(Peer::BetterStack).incidents, 3);
}

#[test]
fn answers_of_uptimerobot_are_imported() {
    assert_eq!(compare(Peer::UptimeRobot).incidents, 0);
}

#[test]
fn answers_of_statuspage_are_imported() {
    assert_eq!(compare(Peer::Statuspage).incidents, 2);
}

#[test]
fn public_summary_of_statuspage_is_imported() {
    let (text, preview) = configuration(Peer::Statuspage, &data("statuspage-summary.json"));
    assert!(text.contains("  public:\n    title: Public\n    slug: public\n"), "{text}");
    assert!(!preview.contains("unknown fields"), "{preview}");
}

#[test]
fn unusable_answers_are_named_with_a_remedy() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.json");
    for (peer, text, expected) in [
        (Peer::OpenStatus, "", "is empty; save the answer again"),
        (
            Peer::OpenStatus,
            "{\"a\": 1}",
            "has an object with a, but no monitors, notifications or status pages; save the answer of a method that the guide lists",
        ),
        (
            Peer::OpenStatus,
            "{\"totalSize\": 0}",
            "has nothing of OpenStatus to import; check that it is the right file",
        ),
        (
            Peer::BetterStack,
            "[1]",
            "has a list of unknown objects, but no `data` with monitors or status pages; save the answer of a method that the guide lists",
        ),
        (
            Peer::UptimeRobot,
            "{\"stat\":\"fail\",\"error\":{\"message\":\"api_key is wrong\"}}",
            "is an error of UptimeRobot (api_key is wrong); save the answer again with a read-only key",
        ),
        (
            Peer::Statuspage,
            "{\"error\": \"Could not authenticate\"}",
            "has an object with error, but no page, components, incidents or subscribers; save the answer of a method that the guide lists",
        ),
        (
            Peer::Statuspage,
            "[]",
            "has nothing of Statuspage to import; check that it is the right file",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let error = import_of(peer, &path).unwrap_err();
        assert_eq!(error, format!("`{}` {expected}", path.display()));
    }
    fs::write(&path, "{\"data\": [\n  {\"id\": 1},,\n").unwrap();
    let error = import_of(Peer::BetterStack, &path).unwrap_err();
    assert!(error.ends_with("a.json`, line 2, column 13: expected value"), "{error}");
}

#[test]
fn folder_without_answers_is_refused() {
    let folder = tempdir().unwrap();
    let error = import_of(Peer::UptimeRobot, folder.path()).unwrap_err();
    assert!(error.contains("has no file `.json`"), "{error}");
}
