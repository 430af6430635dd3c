//! The interface of Atlassian Statuspage: <https://developer.statuspage.io/>.

use std::time::Duration;

use rules::Secret;
use serde_json::Value;

use super::{ApiRequest, Step, ids};

/// Address, variable of the key and time between requests: a key has 60 a minute.
pub(super) const SERVICE: (&str, &str, Duration) =
    ("https://api.statuspage.io", "STATUSPAGE_API_KEY", Duration::from_secs(1));
/// Paths of lists.
pub(super) const LISTS: [&str; 1] = [PAGES];

const PAGES: &str = "/v1/pages";
/// Number of objects in an answer.
const LIMIT: usize = 100;

pub(super) fn request(address: &str, token: &Secret<String>, step: &Step) -> ApiRequest {
    // Lists count pages from 1. Incidents have `limit` for `per_page`.
    let page = step.from + 1;
    let url = if step.path == PAGES {
        format!("{address}{PAGES}")
    } else {
        format!("{address}{}?page={page}&per_page={LIMIT}&limit={LIMIT}", step.path)
    };
    ApiRequest {
        method: "GET",
        url,
        headers: vec![("authorization", Secret::new(format!("OAuth {}", token.expose())))],
        body: Secret::new(String::new()),
    }
}

pub(super) fn next(step: &Step, answer: &Value) -> Vec<Step> {
    if step.path == PAGES {
        let parts = ["component-groups", "components", "incidents", "subscribers"];
        let pages = ids(Some(answer)).into_iter();
        return pages
            .flat_map(|id| parts.map(|part| Step::new(format!("{PAGES}/{id}/{part}"))))
            .collect();
    }
    let is_full = answer.as_array().is_some_and(|items| items.len() >= LIMIT);
    if is_full { vec![step.from(step.from + 1)] } else { Vec::new() }
}
