//! A service with status pages of several sizes, whose monitors have a history of 90 days.

use std::io::{BufReader, Read as _, Write as _};
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::api::{Api, connect};
use super::super::observe::{self, NO_LIMIT};
use super::super::process::{RunningService, Target};
use crate::shell;

const PAGES: &str = "status_page.v1.StatusPageService";
/// Number of components in a group.
const GROUPED: usize = 10;
/// Number of components from which a page has groups.
const GROUPS_FROM: usize = 30;

/// A service with pages, and a caller that may change them.
pub(super) struct Site {
    pub(super) service: RunningService,
    pub(super) api: Api,
    key: String,
    pages: Vec<(usize, String)>,
    _folder: tempfile::TempDir,
}

/// Returns the path of the page with this number of components.
pub(super) fn path(count: usize) -> String {
    format!("/status/page-{count}")
}

impl Site {
    /// Creates a page for each of these numbers of components. All components are active and have a
    /// history.
    pub(super) fn open(target: &Target, counts: &[usize]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let key = observe::key(folder.path())?;
        let service = RunningService::start(folder.path(), &NO_LIMIT)?;
        let mut api = Api::new(service.address, &key)?;
        let (mut pages, mut monitors) = (Vec::new(), Vec::new());
        for count in counts {
            let page = a_page(&mut api, *count)?;
            monitors.extend(components(&mut api, &page, *count, target)?);
            pages.push((*count, page));
        }
        drop(api);
        service.stop()?;
        let example =
            ["run", "--profile", "dist", "--quiet", "--package", "aloft-store", "--example"];
        let data = folder.path().display().to_string();
        shell::output(
            &shell::cargo(),
            &[&example[..], &["page_past", "--", &data, "bench"]].concat(),
        )?;
        let service = RunningService::start(folder.path(), &NO_LIMIT)?;
        let mut api = Api::new(service.address, &key)?;
        // Activate the monitors only now, so that their state continues the history.
        for id in &monitors {
            let monitor = json!({ "id": id, "active": true });
            let request = json!({ "monitor": monitor, "updateMask": "active" });
            api.call("UpdateHttpMonitor", &request)?;
        }
        println!("   {} components on {} pages", monitors.len(), pages.len());
        Ok(Self { service, api, key, pages, _folder: folder })
    }

    /// Adds a component with a monitor of this URL to a page. Returns the id of the monitor.
    pub(super) fn add(&mut self, count: usize, name: &str, url: &str) -> Result<String> {
        let page = self.page(count)?.to_owned();
        let monitor = a_monitor(&mut self.api, name, url, true)?;
        let component = json!({ "pageId": page, "type": "monitor", "monitorId": monitor });
        self.api.call_of(PAGES, "CreateComponent", &json!({ "component": component }))?;
        self.api.call("TriggerMonitor", &json!({ "id": monitor }))?;
        Ok(monitor)
    }

    /// Changes a page so that it is rebuilt. An unchanged page would not be.
    pub(super) fn touch(&self, count: usize, round: usize) -> Result<()> {
        let description = format!("What we run, {round}.");
        let page = json!({ "id": self.page(count)?, "description": description });
        let request = json!({ "statusPage": page, "updateMask": "description" });
        Api::new(self.service.address, &self.key)?.call_of(PAGES, "UpdateStatusPage", &request)?;
        Ok(())
    }

    fn page(&self, count: usize) -> Result<&str> {
        let page = self.pages.iter().find(|(of, _)| *of == count);
        Ok(&page.context("no page with this number of components")?.1)
    }
}

fn a_page(api: &mut Api, count: usize) -> Result<String> {
    let page = json!({ "title": "Acme Cloud", "slug": format!("page-{count}") });
    let made = api.call_of(PAGES, "CreateStatusPage", &json!({ "statusPage": page }))?;
    let id = id_of(&made, "statusPage")?;
    api.call_of(PAGES, "PublishStatusPage", &json!({ "id": id }))?;
    Ok(id)
}

/// Adds components to a page. Returns the ids of their monitors.
fn components(api: &mut Api, page: &str, count: usize, target: &Target) -> Result<Vec<String>> {
    let url = format!("http://127.0.0.1:{}/", target.plain_port);
    let (mut monitors, mut group) = (Vec::with_capacity(count), Value::Null);
    for number in 0..count {
        if count >= GROUPS_FROM && number % GROUPED == 0 {
            let new = json!({ "pageId": page, "name": format!("Region {}", number / GROUPED) });
            let request = json!({ "componentGroup": new });
            let made = api.call_of(PAGES, "CreateComponentGroup", &request)?;
            group = json!(id_of(&made, "componentGroup")?);
        }
        let monitor = a_monitor(api, &format!("Service number {number}"), &url, false)?;
        let component = json!({
            "pageId": page, "type": "monitor", "monitorId": monitor, "groupId": group,
            "order": number, "groupOrder": number,
        });
        api.call_of(PAGES, "CreateComponent", &json!({ "component": component }))?;
        monitors.push(monitor);
    }
    Ok(monitors)
}

fn a_monitor(api: &mut Api, name: &str, url: &str, active: bool) -> Result<String> {
    let monitor = json!({
        "name": name, "url": url, "periodicity": "10m", "regions": ["fly-ams"], "retry": 0,
        "active": active,
    });
    id_of(&api.call("CreateHttpMonitor", &json!({ "monitor": monitor }))?, "monitor")
}

fn id_of(made: &Value, field: &str) -> Result<String> {
    Ok(made[field]["id"].as_str().context("the created object has no id")?.to_owned())
}

/// Returns the encoded body for a visitor who accepts this encoding.
pub(super) fn get(address: SocketAddr, path: &str, encoding: &str) -> Result<Vec<u8>> {
    let mut stream = BufReader::new(connect(address)?);
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: bench\r\naccept-encoding: {encoding}\r\n\
         connection: close\r\n\r\n"
    );
    stream.get_mut().write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let head = answer.windows(4).position(|part| part == b"\r\n\r\n").context("no headers")?;
    let text = String::from_utf8_lossy(&answer[..head]);
    ensure!(text.starts_with("HTTP/1.1 200 "), "{path} returned {text}");
    Ok(answer.split_off(head + 4))
}
