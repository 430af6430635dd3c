//! Follows every guide, the README and the clients' READMEs from beginning to end, each in its own
//! environment.

use std::fs;

use crate::reader::Reader;
use crate::{openstatus, repository};

/// Declares a test for each page, optionally with a check of the result, and the list of pages.
macro_rules! pages {
    (@look) => {
        |_| {}
    };
    (@look $look:path) => {
        $look
    };
    ($($name:ident: $path:literal $(=> $look:path)?),* $(,)?) => {
        const FOLLOWED: &[&str] = &[$($path),*];
        $(
            // issue 8, point 3: "Every example is run by the tests"
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                Reader::follow($path, pages!(@look $($look)?)).await;
            }
        )*
    };
}

pages! {
    the_readme_holds: "README.md",
    the_clients_front_page_holds: "clients/typescript/README.md",
    the_go_clients_front_page_holds: "clients/go/README.md",
    the_python_clients_front_page_holds: "clients/python/README.md",
    a_first_monitor_holds: "docs/guides/first-monitor.md",
    alerts_hold: "docs/guides/alerts.md",
    heartbeats_hold: "docs/guides/heartbeats.md",
    a_status_page_holds: "docs/guides/status-page.md",
    terraform_holds: "docs/guides/terraform.md",
    monitors_as_yaml_hold: "docs/guides/monitors-as-yaml.md",
    typescript_holds: "docs/guides/typescript.md",
    go_holds: "docs/guides/go.md",
    python_holds: "docs/guides/python.md",
    assistants_hold: "docs/guides/assistants.md",
    calls_from_anything_hold: "docs/guides/call-it.md",
    the_command_line_holds: "docs/guides/command-line.md",
    checks_from_here_hold: "docs/guides/check-once.md",
    running_it_for_real_holds: "docs/guides/run-it-for-real.md",
    running_in_containers_holds: "docs/guides/run-in-containers.md",
    moving_from_openstatus_holds: "docs/guides/move-from-openstatus.md" => openstatus::all_came,
    moving_from_uptime_kuma_holds: "docs/guides/move-from-uptime-kuma.md",
    moving_from_gatus_holds: "docs/guides/move-from-gatus.md",
    moving_from_services_holds: "docs/guides/move-from-services.md",
}

#[test]
fn every_guide_has_a_test() {
    let entries = fs::read_dir(repository().join("docs/guides")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut guides: Vec<_> = names.map(|name| format!("docs/guides/{name}")).collect();
    guides.retain(|guide| guide != "docs/guides/README.md");
    let mut missing = guides.iter().filter(|guide| !FOLLOWED.contains(&guide.as_str()));
    assert_eq!(missing.next(), None);
}
