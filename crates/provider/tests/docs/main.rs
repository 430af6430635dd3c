//! The provider's documentation in the registry's layout, made from its schemas and the examples that
//! the acceptance tests apply. `ALOFT_WRITE_DOCS=1 cargo test -p aloft-provider --test docs` writes it;
//! without the variable it is only compared.
//! Layout: <https://developer.hashicorp.com/terraform/registry/providers/docs>

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod page;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use aloft_provider::ServiceProvider;
use aloft_provider::action::Trigger;
use aloft_provider::data_source::{MonitorData, MonitorsData, RegionsData, SingleData, WhoamiData};
use aloft_provider::function::{PeriodicitySeconds, Regions};
use aloft_provider::list::Existing;
use aloft_provider::provider::resources;
use aloft_provider::service::{NOTIFICATIONS, PAGES};
use rules::tables::{NOTIFICATION_DATA, STATUS_PAGE_DATA};
use terraform_plugin::Provider as _;
use terraform_plugin::action::Action as _;
use terraform_plugin::data_source::DataSource as _;
use terraform_plugin::function::Function as _;
use terraform_plugin::list::ListResource as _;
use terraform_plugin::resource::Resource as _;

use crate::page::{Kind, Page};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/terraform")
}

fn example(path: &str) -> String {
    let path = root().join("examples").join(path);
    fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Every page by its path.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let mut add = |path: String, page: Page| pages.insert(path, page.text());
    let index = Page::of(Kind::Provider, "service", &ServiceProvider::default().schema());
    add("index.md".to_owned(), index.example(&example("provider/provider.tf")));
    for managed in resources() {
        let name = managed.table.name;
        let short = name.strip_prefix("service_").unwrap();
        let folder = format!("resources/{name}");
        let page = Page::of(Kind::Resource, name, &managed.schema())
            .example(&example(&format!("{folder}/resource.tf")))
            .imported(
                &example(&format!("{folder}/import.tf")),
                &example(&format!("{folder}/import.sh")),
                &managed.identity().unwrap(),
            );
        add(format!("resources/{short}.md"), page);
        let list = Existing(managed).schema();
        add(format!("list-resources/{short}.md"), Page::of(Kind::List, name, &list).search());
    }
    let channel = SingleData { table: &NOTIFICATION_DATA, service: &NOTIFICATIONS };
    let page = SingleData { table: &STATUS_PAGE_DATA, service: &PAGES };
    for (name, schema) in [
        ("service_monitor", MonitorData.schema()),
        ("service_monitors", MonitorsData.schema()),
        ("service_notification", channel.schema()),
        ("service_status_page", page.schema()),
        ("service_regions", RegionsData.schema()),
        ("service_whoami", WhoamiData.schema()),
    ] {
        let short = name.strip_prefix("service_").unwrap();
        let example = example(&format!("data-sources/{name}/data-source.tf"));
        let page = Page::of(Kind::DataSource, name, &schema).example(&example);
        add(format!("data-sources/{short}.md"), page);
    }
    for (name, signature) in
        [("regions", Regions.signature()), ("periodicity_seconds", PeriodicitySeconds.signature())]
    {
        let example = example(&format!("functions/{name}/function.tf"));
        add(format!("functions/{name}.md"), Page::of_function(name, &signature).example(&example));
    }
    let trigger = example("actions/service_monitor_trigger/action.tf");
    let page = Page::of(Kind::Action, "service_monitor_trigger", &Trigger.schema());
    add("actions/monitor_trigger.md".to_owned(), page.example(&trigger));
    pages
}

fn written(folder: &Path, below: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.path().is_dir() && path != "examples" {
            written(&entry.path(), &path, found);
        } else if Path::new(&path).extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says whether it writes")]
fn the_documentation_is_what_the_schemas_say() {
    let pages = pages();
    if std::env::var("ALOFT_WRITE_DOCS").is_ok() {
        for (path, text) in &pages {
            let path = root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    for (path, text) in &pages {
        let written = fs::read_to_string(root().join(path)).unwrap_or_default();
        assert!(
            written == *text,
            "docs/terraform/{path} is old: run this test with ALOFT_WRITE_DOCS=1"
        );
    }
    let mut found = Vec::new();
    written(&root(), "", &mut found);
    found.sort();
    assert_eq!(found, pages.keys().cloned().collect::<Vec<_>>());
}

#[test]
fn every_attribute_is_described() {
    for (path, text) in pages() {
        for line in text.lines().filter(|line| line.starts_with("- `")) {
            let (_, described) = line.split_once(") ").unwrap_or_else(|| panic!("{path}: {line}"));
            assert!(described.ends_with(['.', ')']), "{path}: {line}");
        }
    }
}
