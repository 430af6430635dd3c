//! `ListMissedSlots`: the slots of a monitor that were not run. The token of a page is the position
//! of its last entry.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::monitor::wire::{ListMissedSlotsRequest, ListMissedSlotsResponse, MissedSlots};
use contract::monitor::{encode_instant, micros};
use contract::rpc::{self, Error};
use domain::cadence::{Missed, MissedReason};
use rules::{Timestamp, Violation, Violations, limits};
use store::{MissedCursor, MissedFilter};

use super::super::find;
use super::super::status::RegionNames;
use super::{limit, parse_names, regions};
use crate::auth::Caller;
use crate::rpc::request::parse_time;
use crate::rpc::{Services, rpc_error};

/// Implements `ListMissedSlots`.
pub(in crate::rpc) async fn list_missed(
    services: &Services,
    caller: Caller,
    request: ListMissedSlotsRequest,
) -> Result<ListMissedSlotsResponse, Error> {
    let mut wrong = Vec::new();
    let limit = limit(request.limit, &mut wrong);
    let reasons = MissedReason::ALL;
    let filter = MissedFilter {
        regions: regions(&request.regions, &mut wrong),
        reasons: parse_names(
            &request.reasons,
            reasons,
            MissedReason::as_str,
            "reasons",
            &mut wrong,
        ),
        from: parse_time(request.from.as_option(), "from", &mut wrong),
        to: parse_time(request.to.as_option(), "to", &mut wrong),
    };
    let token = request.page_token.as_deref().filter(|token| !token.is_empty());
    let after = token.and_then(decode_token);
    if token.is_some() && after.is_none() {
        let allowed = "must be the next_page_token of an earlier response";
        wrong.push(Violation::without_value("page_token", allowed));
    }
    if !wrong.is_empty() {
        return Err(rpc::invalid(&Violations(wrong)));
    }
    let stored = find(services, caller, &request.id).await?;
    let (monitor, kind) = (stored.monitor.id, stored.monitor.settings.check.kind());
    let names = RegionNames::new(services.probes(caller), kind);
    let missed = services.store.missed();
    let page = missed.list(caller.workspace, monitor, &filter, after, limit).await;
    let page = page.map_err(rpc_error)?;
    Ok(ListMissedSlotsResponse {
        missed: page.ranges.iter().map(|it| encode_missed(it, names)).collect(),
        next_page_token: page.next.as_ref().map(encode_token).unwrap_or_default(),
    })
}

fn encode_missed(missed: &Missed, names: RegionNames<'_>) -> MissedSlots {
    MissedSlots {
        region: names.name(missed.region),
        first_slot: encode_instant(missed.first_slot),
        last_slot: encode_instant(missed.last_slot),
        slots: micros(missed.count),
        reason: missed.reason.as_str().to_owned(),
        place: names.place(missed.region),
    }
}

fn encode_token(cursor: &MissedCursor) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}/r{}", cursor.first_slot.as_millis(), cursor.region))
}

fn decode_token(token: &str) -> Option<MissedCursor> {
    if token.len() > limits::PAGE_TOKEN_BYTES_MAX {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (slot, region) = str::from_utf8(&bytes).ok()?.split_once("/r")?;
    let first_slot = Timestamp::from_millis(slot.parse().ok()?);
    Some(MissedCursor { first_slot, region: region.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_round_trips_and_forged_one_fails() {
        let first_slot = Timestamp::from_millis(1_800_000_000_123);
        let cursor = MissedCursor { first_slot, region: 27 };
        assert_eq!(decode_token(&encode_token(&cursor)), Some(cursor));
        for made_up in ["", "!", "MS8y", &encode_token(&cursor)[1..], &"A".repeat(300)] {
            assert_eq!(decode_token(made_up), None, "{made_up}");
        }
    }
}
