//! `aloft monitors logs`: the checks of a monitor.

use anyhow::Result;
use clap::Args;
use contract::monitor::decode_instant;
use contract::monitor::wire::ResponseLog;
use rules::{Region, Timestamp};
use serde_json::{Value as Json, json};

use super::find::find;
use crate::output;
use crate::output_args::OutputArgs;
use crate::paging::{NextPage, Paging, SHOWN};
use crate::session::Session;
use crate::time;

const METHOD: &str = "/monitor.v1.MonitorService/ListResponseLogs";

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct LogFilterArgs {
    /// Only checks from this region; repeatable
    #[arg(long = "region", value_name = "REGION", hide_possible_values = true, value_parser = clap::builder::PossibleValuesParser::new(Region::WORDS))]
    regions: Vec<String>,
    /// Only checks with this outcome: success, degraded, failure or skipped; repeatable
    #[arg(long = "outcome", value_name = "OUTCOME", hide_possible_values = true, value_parser = ["success", "degraded", "failure", "skipped"])]
    outcomes: Vec<String>,
    /// Only checks with this trigger: scheduled, confirmation or manual; repeatable
    #[arg(long = "trigger", value_name = "TRIGGER", hide_possible_values = true, value_parser = ["scheduled", "confirmation", "manual"])]
    triggers: Vec<String>,
    /// Only checks that were due at this time or later, such as 2026-12-01T22:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time::instant)]
    from: Option<Timestamp>,
    /// Only checks that were due before this time
    #[arg(long, value_name = "TIME", value_parser = time::instant)]
    to: Option<Timestamp>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(super) async fn logs(
    given: &str,
    which: &LogFilterArgs,
    output_args: &OutputArgs,
) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let id = find(&session, given).await?.named.id;
    let mut paging = Paging::up_to(which.limit);
    let (mut logs, mut token) = (Vec::new(), String::new());
    while let Some(next) = paging.next(logs.len(), &token) {
        let request = which.request(&id, next);
        let mut page = session.call("listing checks", METHOD, &request).await?;
        page["nextPageToken"].as_str().unwrap_or_default().clone_into(&mut token);
        if let Some(Json::Array(part)) = page.get_mut("logs").map(Json::take) {
            logs.extend(part);
        }
    }
    let read = |log: &Json| serde_json::from_value::<ResponseLog>(log.clone());
    let shown: Vec<ResponseLog> = logs.iter().map(read).collect::<Result<_, _>>()?;
    let ids: Vec<&str> = shown.iter().map(|log| log.id.as_str()).collect();
    let answer = json!({ "logs": logs, "nextPageToken": token });
    output_args.print(&answer, &ids, || table(&shown))?;
    if !token.is_empty() && output_args.is_for_people() {
        output::print_stderr("there are more; a higher --limit shows them");
    }
    Ok(())
}

impl LogFilterArgs {
    fn request(&self, id: &str, next: NextPage) -> Json {
        let mut request = json!({
            "id": id, "limit": next.limit, "outcomes": self.outcomes, "regions": self.regions,
            "triggers": self.triggers,
        });
        let times = [("from", self.from), ("to", self.to)];
        let texts = times.map(|(name, at)| (name, at.map(|at| at.to_string())));
        for (name, text) in texts.into_iter().chain([("pageToken", next.page_token)]) {
            if let Some(text) = text {
                request[name] = json!(text);
            }
        }
        request
    }
}

fn table(logs: &[ResponseLog]) -> String {
    let head = ["SLOT", "REGION", "TRIGGER", "OUTCOME", "LATENCY", "CODE", "LOG"];
    let row = |it: &ResponseLog| {
        let slot = it.slot.as_option().and_then(decode_instant).map(output::moment);
        let code = it.status_code.map(|code| code.to_string()).unwrap_or_default();
        let millis = it.latency_us.unsigned_abs().div_ceil(1_000);
        let latency = if it.attempts == 0 { String::new() } else { format!("{millis} ms") };
        let texts = [&it.region, &it.trigger, &it.outcome, &it.id].map(Clone::clone);
        let [region, trigger, outcome, id] = texts;
        [slot.unwrap_or_default(), region, trigger, outcome, latency, code, id]
    };
    let head = head.map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(logs.iter().map(row)).collect();
    output::table(&rows)
}
