//! `aloft missed`: the slots of a monitor that nobody ran, and why. Everything is asked of a running service,
//! with a key.

use anyhow::Result;
use clap::Args;
use contract::monitor::decode_instant;
use contract::monitor::wire::{
    ListMissedSlotsRequest, ListMissedSlotsResponse, MissedSlots, Timestamp,
};

use crate::json_args::JsonArgs;
use crate::output;
use crate::paging::{NextPage, Paging, SHOWN};
use crate::resources::{self, MONITORS};
use crate::service::{KEY_HELP, Service};
use crate::session::Session;

/// Which missed slots, and how to print them.
#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(crate) struct MissedArgs {
    /// ID (mon_…) or name of the monitor
    #[arg(value_name = "MONITOR")]
    monitor: String,
    /// Only in this region; may be repeated
    #[arg(long, value_name = "REGION")]
    region: Vec<String>,
    /// Only for this reason: down, overloaded, changed, disconnected, fault or unknown; may be repeated
    #[arg(long, value_name = "REASON")]
    reason: Vec<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    service: Service,
    #[command(flatten)]
    json: JsonArgs,
}

pub(crate) async fn run(args: MissedArgs) -> Result<()> {
    let session = Session::open(&args.service)?;
    let id = resources::id(&session, &MONITORS, &args.monitor).await?;
    let mut paging = Paging::up_to(args.limit);
    let mut page = ListMissedSlotsResponse::default();
    while let Some(next) = paging.next(page.missed.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListMissedSlotsRequest {
            id: id.clone(),
            limit,
            page_token,
            regions: args.region.clone(),
            reasons: args.reason.clone(),
            ..Default::default()
        };
        let part = session.send("listing missed slots", request).await?;
        page.missed.extend(part.missed);
        page.next_page_token = part.next_page_token;
    }
    if args.json.is_wanted() {
        return args.json.print(serde_json::to_value(&page)?);
    }
    let head = ["FIRST", "LAST", "SLOTS", "REGION", "REASON"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(page.missed.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    if !page.next_page_token.is_empty() {
        output::print_stderr("there are more; a higher --limit shows them");
    }
    Ok(())
}

fn row(missed: &MissedSlots) -> [String; 5] {
    let at = |at: Option<&Timestamp>| at.map(moment).unwrap_or_default();
    [
        at(missed.first_slot.as_option()),
        at(missed.last_slot.as_option()),
        missed.slots.to_string(),
        missed.region.clone(),
        missed.reason.clone(),
    ]
}

fn moment(at: &Timestamp) -> String {
    decode_instant(at).map(output::moment).unwrap_or_default()
}
