//! `aloft missed`: the slots of a monitor that nobody ran, and why. Everything is asked of a running service,
//! with a key.

use anyhow::Result;
use clap::Args;
use contract::monitor::decode_instant;
use contract::monitor::wire::{ListMissedSlotsRequest, MissedSlots, Timestamp};

use crate::output;
use crate::service::{KEY_HELP, Service};

/// Entries that are shown by default.
const SHOWN: i32 = 20;

/// Which missed slots, and how to print them.
#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(crate) struct MissedArgs {
    /// ID of the monitor, mon_…
    #[arg(value_name = "MONITOR")]
    monitor: String,
    /// Only in this region; may be repeated
    #[arg(long, value_name = "REGION")]
    region: Vec<String>,
    /// Only for this reason: down, overloaded, changed, fault or unknown; may be repeated
    #[arg(long, value_name = "REASON")]
    reason: Vec<String>,
    /// Maximum number of entries, 1 to 100
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true)]
    limit: i32,
    #[command(flatten)]
    service: Service,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(asked: MissedArgs) -> Result<()> {
    let request = ListMissedSlotsRequest {
        id: asked.monitor,
        limit: Some(asked.limit),
        regions: asked.region,
        reasons: asked.reason,
        ..Default::default()
    };
    let answer = asked.service.client()?.monitors.list_missed_slots(request).await;
    let page = asked.service.map_error("listing missed slots", answer)?.into_owned();
    if asked.json {
        output::print_json(serde_json::to_value(&page)?);
        return Ok(());
    }
    let head = ["FIRST", "LAST", "SLOTS", "REGION", "REASON"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(page.missed.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    if !page.next_page_token.is_empty() {
        output::print_stderr("there are more; --limit shows more");
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
