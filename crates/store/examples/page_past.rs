//! Generates a history of 90 days for every monitor of a workspace, each with its own outages.
//! `cargo xtask bench pages` shows it on status pages. The server of the data folder must be
//! stopped. Run with:
//!
//! `cargo run --profile dist -p aloft-store --example page_past -- FOLDER WORKSPACE`

#![expect(clippy::print_stdout, reason = "an example prints to its user")]
#![expect(clippy::disallowed_methods, reason = "the history ends now")]

extern crate aloft_store as store;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use rules::{IncidentId, MonitorStatus, Timestamp};
use store::{Batch, Database, MasterKeySource, Page, Settings, Store, StoreError};

const DAY: Duration = Duration::from_hours(24);
/// Age of the first check of each monitor.
const FIRST: Duration = Duration::from_hours(24 * 89);
/// Number of outages of each monitor.
const FAILURES: u32 = 3;
/// Days between outages.
const APART: u32 = 28;
/// Number of monitors per batch.
const PART: u32 = 500;

#[tokio::main]
async fn main() -> Result<(), StoreError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, workspace] = words.as_slice() else {
        println!("usage: page_past FOLDER WORKSPACE");
        return Ok(());
    };
    let (database, master_key) = (Database::Embedded, MasterKeySource::File);
    let store = Store::open(Settings { folder: folder.into(), database, master_key }).await?;
    let workspace = store.workspaces().by_slug(workspace).await?.id;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp::from_millis(now.as_millis() as i64);
    let mut offset = 0;
    loop {
        let part = Page { limit: PART, offset, after: None };
        let monitors = store.monitors().list(workspace, part).await?.rows;
        if monitors.is_empty() {
            break;
        }
        let mut transitions = Vec::new();
        for (place, monitor) in monitors.iter().enumerate() {
            let past = past(u64::from(offset) + place as u64, now);
            transitions.extend(past.into_iter().map(|change| (monitor.monitor.id, change)));
        }
        store.commit(Arc::new(Batch { transitions, ..Batch::default() })).await?;
        offset += PART;
    }
    println!("every monitor has a past of {} days", FIRST.as_secs() / DAY.as_secs());
    store.close().await
}

/// Returns a history that is active except for outages of minutes or hours, and ends with unknown.
fn past(number: u64, now: Timestamp) -> Vec<Transition> {
    let none = IncidentChange::None;
    let mut past = vec![change(now - FIRST, MonitorStatus::Unknown, MonitorStatus::Active, none)];
    for trouble in (0..FAILURES).rev() {
        let nth = number * u64::from(FAILURES) + u64::from(trouble);
        let chance = nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24;
        let within = Duration::from_secs(chance % (24 * 3_600 * 20));
        let from = now - (DAY * (trouble * APART + 2) + within);
        let to = from + Duration::from_secs(120 + chance % 30_000);
        let id = IncidentId::from_bits((chance << 16) | nth);
        let (bad, opened, closed) = if chance.is_multiple_of(3) {
            (MonitorStatus::Degraded, none, none)
        } else {
            let how = CloseReason::Recovered;
            (
                MonitorStatus::Error,
                IncidentChange::Opened(id),
                IncidentChange::Closed { id, reason: how },
            )
        };
        past.push(change(from, MonitorStatus::Active, bad, opened));
        past.push(change(to, bad, MonitorStatus::Active, closed));
    }
    past.push(change(now, MonitorStatus::Active, MonitorStatus::Unknown, none));
    past
}

const fn change(
    at: Timestamp,
    from: MonitorStatus,
    to: MonitorStatus,
    incident: IncidentChange,
) -> Transition {
    Transition { from, to, at, incident, why: StatusReason::NoVotes }
}
