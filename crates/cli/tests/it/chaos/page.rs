//! A status page with subscribers and reports. Each update reported as stored must reach each
//! subscriber.

use serde_json::{Value, json};

use crate::receiver::Receiver;

const PAGES: &str = "status_page.v1.StatusPageService";
const REPORTS: &str = "status_report.v1.StatusReportService";

/// A page by its API name.
#[derive(Clone, Debug)]
pub(super) struct Page {
    id: String,
}

impl Page {
    /// Creates a page with these receivers as subscribers. The calls must succeed.
    pub(super) fn create(
        call: impl Fn(&str, &str, &Value) -> Value,
        subscribers: &[Receiver],
    ) -> Self {
        let page = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
        let made = call(PAGES, "CreateStatusPage", &page);
        let id = made["statusPage"]["id"].as_str().unwrap().to_owned();
        for receiver in subscribers {
            let subscriber = json!({ "pageId": id, "webhookUrl": receiver.url() });
            call(PAGES, "AddSubscriber", &json!({ "subscriber": subscriber }));
        }
        Self { id }
    }

    /// Creates a report and returns the ids of its updates that were reported as stored. `None` if
    /// the server is gone.
    pub(super) fn report(
        &self,
        call: impl Fn(&str, &str, &Value) -> Option<Value>,
    ) -> Option<Vec<String>> {
        let report = json!({ "pageId": self.id, "title": "Log-in is slow" });
        let update = json!({ "status": "investigating", "text": "We look." });
        let request = json!({ "statusReport": report, "update": update, "notify": true });
        let answer = call(REPORTS, "CreateStatusReport", &request)?;
        let updates = answer["statusReport"]["updates"].as_array().into_iter().flatten();
        Some(updates.filter_map(|it| it["id"].as_str().map(str::to_owned)).collect())
    }
}
