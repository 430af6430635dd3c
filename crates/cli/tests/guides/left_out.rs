//! Lengths that the guides promise, and a short list of blocks that are not run, each with its
//! reason.

use crate::document::{Block, Document};
use crate::links;

/// Returns the number of non-empty lines of a block.
fn lines(block: &Block) -> usize {
    block.text.lines().filter(|line| !line.trim().is_empty()).count()
}

// issue 8, what it must reach: "three lines of shell, eight lines of TypeScript"
#[test]
fn first_monitor_examples_have_promised_length() {
    for page in ["README.md", "docs/guides/first-monitor.md"] {
        let blocks = Document::read(page).blocks();
        let at = blocks.iter().position(|block| block.language == "ts").unwrap();
        let (program, shell) = (&blocks[at], &blocks[at + 1]);
        assert!(program.text.lines().count() <= 8, "{}", program.text);
        assert!(
            program.text.contains("createHttpMonitor") && program.text.contains("listMonitors")
        );
        assert!(shell.language == "sh" && lines(shell) <= 3, "{}", shell.text);
    }
}

// issue 20, point 1: "The README starts with installing a package, then building from source"; issue 8, point 4:
// "the two commands"
#[test]
fn readme_begins_with_package_then_source() {
    let document = Document::read("README.md");
    assert_eq!(document.anchors()[1], "install");
    let commands = |block: &Block| -> Vec<String> {
        let lines = block.text.lines().map(|line| line.split('#').next().unwrap().trim());
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let blocks = document.blocks();
    assert_eq!(commands(&blocks[0]), ["aloft serve --demo"]);
    assert_eq!(commands(&blocks[1]), ["cargo run --release -- serve --demo", "cargo xtask test"]);
}

#[test]
fn skipped_blocks_are_few_and_have_reasons() {
    let pages = links::pages().into_iter().map(|page| Document::read(&page));
    let left: Vec<_> = pages
        .flat_map(|page| page.blocks())
        .filter_map(|block| Some(format!("{}: {}", block.place.split(':').next()?, block.not_run?)))
        .collect();
    insta::assert_snapshot!(left.join("\n"), @r"
    README.md: it builds the program, which the tests have built already
    clients/go/README.md: the module has no public address before the first release
    clients/python/README.md: the package is not on PyPI before the first release
    clients/typescript/README.md: the package is not on npm before the first release
    docs/guides/alerts.md: it takes a message that found no receiver
    docs/guides/assistants.md: it takes an account of the assistant
    docs/guides/check-once.md: a picture of what a check of a slow page draws
    docs/guides/check-once.md: it takes a certificate that the server accepts
    docs/guides/first-monitor.md: it builds the program, which the tests have built already
    docs/guides/heartbeats.md: a line for cron
    docs/guides/heartbeats.md: a unit for systemd
    docs/guides/monitors-as-yaml.md: it takes a certificate and its key
    docs/guides/move-from-gatus.md: `aloft apply` has a guide of its own
    docs/guides/move-from-openstatus.md: `aloft apply` has a guide of its own
    docs/guides/move-from-services.md: it takes an account of the service
    docs/guides/move-from-services.md: `aloft apply` has a guide of its own
    docs/guides/move-from-uptime-kuma.md: it takes a database of Uptime Kuma
    docs/guides/move-from-uptime-kuma.md: `aloft apply` has a guide of its own
    docs/guides/run-in-containers.md: it takes an engine for containers
    docs/guides/run-in-containers.md: it takes an engine for containers
    docs/guides/run-in-containers.md: it takes an engine for containers
    docs/guides/run-in-containers.md: it takes an engine for containers
    docs/guides/run-in-containers.md: it takes an engine for containers
    docs/guides/run-in-containers.md: it takes a cluster
    docs/guides/run-in-containers.md: it takes a cluster
    docs/guides/run-in-containers.md: it takes a cluster
    docs/guides/run-it-for-real.md: it installs a package on the whole system
    docs/guides/run-it-for-real.md: it makes a program and a user of the whole system
    docs/guides/run-it-for-real.md: it asks for a password, and makes a role of your PostgreSQL
    docs/guides/run-it-for-real.md: it runs on another machine until it is stopped
    docs/guides/run-it-for-real.md: it runs on another machine
    docs/guides/run-it-for-real.md: it replaces a program of the whole system
    docs/guides/run-it-for-real.md: it replaces a program of the whole system
    docs/guides/run-it-for-real.md: it removes a program of the whole system
    docs/guides/run-it-for-real.md: it changes the settings of the whole system
    docs/guides/run-it-for-real.md: Prometheus reads it
    docs/guides/run-it-for-real.md: Prometheus reads it
    ");
}
