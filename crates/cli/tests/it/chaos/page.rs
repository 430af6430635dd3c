//! A status page with subscribers, and reports that are written on it: each update that the server said is
//! stored must reach each of them.

use serde_json::{Value, json};

use super::receiver::Receiver;

const PAGES: &str = "status_page.v1.StatusPageService";
const REPORTS: &str = "status_report.v1.StatusReportService";

/// A page, as callers name it.
#[derive(Clone, Debug)]
pub(super) struct Page {
    id: String,
}

impl Page {
    /// A page that tells these receivers, by a call that is answered.
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

    /// Opens a report, by a call that may find nobody; the identifiers of its updates, which the server said
    /// are stored. `None` when the server is gone.
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
