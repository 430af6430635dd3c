//! `aloft usage`: the workspace of the key, the limits of its plan and their usage.

use anyhow::Result;
use serde_json::{Value as Json, json};

use crate::output;
use crate::output_args::OutputArgs;
use crate::session::Session;

const METHOD: &str = "/workspace.v1.WorkspaceService/GetWorkspace";
/// Quantities that plans limit: the name for people, and the field of the contract.
const QUANTITIES: [(&str, &str); 5] = [
    ("monitors", "monitors"),
    ("shortest period", "shortestPeriod"),
    ("status pages", "statusPages"),
    ("channels", "notifications"),
    ("retention in days", "retentionDays"),
];

pub(crate) async fn run(output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let answer = session.call("reading the workspace", METHOD, &json!({})).await?;
    let workspace = &answer["workspace"];
    let id = workspace["id"].as_str().unwrap_or_default();
    output_args.print(&answer, &[id], || words(workspace))
}

fn words(workspace: &Json) -> String {
    let about = [("name", "name"), ("slug", "slug"), ("plan", "plan"), ("id", "id")];
    let about = about.map(|(name, field)| [name.to_owned(), text(&workspace[field])]);
    let head = [String::new(), "USED".to_owned(), "LIMIT".to_owned()];
    let rows = QUANTITIES.map(|(name, field)| {
        let limit = Some(text(&workspace["limits"][field])).filter(|it| !it.is_empty());
        let used = Some(text(&workspace["usage"][field])).filter(|it| !it.is_empty());
        let used = used.unwrap_or_else(|| "-".to_owned());
        [name.to_owned(), used, limit.unwrap_or_else(|| "none".to_owned())]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    format!("{}\n{}", output::table(&about), output::table(&rows))
}

fn text(json: &Json) -> String {
    match json {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => json.to_string(),
    }
}
