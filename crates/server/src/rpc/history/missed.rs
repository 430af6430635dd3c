//! `ListMissedSlots`: the slots of a monitor that were not run. The token of a page is the position
//! of its last entry.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::monitor::wire::{ListMissedSlotsRequest, ListMissedSlotsResponse, MissedSlots};
use contract::monitor::{instant, micros};
use contract::rpc::{self, Error};
use domain::cadence::{Missed, MissedReason};
use rules::{Region, Timestamp, Violation, Violations, limits};
use store::{MissedFilter, MissedPlace};

use super::super::answer::place;
use super::super::monitor::find;
use super::{known, limit, regions, time};
use crate::app::{App, refusal};
use crate::auth::Caller;
use crate::pipeline::Probes;

/// Implements `ListMissedSlots`.
pub(in crate::rpc) async fn missed(
    app: &App,
    caller: Caller,
    request: ListMissedSlotsRequest,
) -> Result<ListMissedSlotsResponse, Error> {
    let mut wrong = Vec::new();
    let limit = limit(request.limit, &mut wrong);
    let reasons = MissedReason::ALL;
    let filter = MissedFilter {
        regions: regions(&request.regions, &mut wrong),
        reasons: known(&request.reasons, reasons, MissedReason::as_str, "reasons", &mut wrong),
        from: time(request.from.as_option(), "from", &mut wrong),
        to: time(request.to.as_option(), "to", &mut wrong),
    };
    let token = request.page_token.as_deref().filter(|token| !token.is_empty());
    let after = token.and_then(read);
    if token.is_some() && after.is_none() {
        let allowed = "must be the next_page_token of an earlier response";
        wrong.push(Violation::unseen("page_token", allowed));
    }
    if !wrong.is_empty() {
        return Err(rpc::invalid(&Violations(wrong)));
    }
    let monitor = find(app, caller, &request.id).await?.monitor.id;
    let missed = app.store.missed();
    let page = missed.list(caller.workspace, monitor, &filter, after, limit).await;
    let page = page.map_err(refusal)?;
    Ok(ListMissedSlotsResponse {
        missed: page.ranges.iter().map(|it| shown(it, app.pipeline.probes())).collect(),
        next_page_token: page.next.as_ref().map(write).unwrap_or_default(),
    })
}

fn shown(missed: &Missed, probes: &Probes) -> MissedSlots {
    MissedSlots {
        region: missed.region.to_string(),
        first_slot: instant(missed.first_slot),
        last_slot: instant(missed.last_slot),
        slots: micros(missed.count),
        reason: missed.reason.as_str().to_owned(),
        place: place(probes, missed.region),
    }
}

fn write(place: &MissedPlace) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}/{}", place.first_slot.as_millis(), place.region))
}

fn read(token: &str) -> Option<MissedPlace> {
    if token.len() > limits::PAGE_TOKEN_BYTES_MAX {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (slot, region) = str::from_utf8(&bytes).ok()?.split_once('/')?;
    let first_slot = Timestamp::from_millis(slot.parse().ok()?);
    Some(MissedPlace { first_slot, region: Region::parse(region).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_reads_back_and_made_up_tokens_are_refused() {
        let first_slot = Timestamp::from_millis(1_800_000_000_123);
        let place = MissedPlace { first_slot, region: Region::KoyebSin };
        assert_eq!(read(&write(&place)), Some(place));
        for made_up in ["", "!", "MS8y", &write(&place)[1..], &"A".repeat(300)] {
            assert_eq!(read(made_up), None, "{made_up}");
        }
    }
}
