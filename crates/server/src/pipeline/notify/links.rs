//! Links in notifications: the public status page that shows the monitor. There is no other target
//! yet, and no link is better than a broken one.

use std::time::Duration;

use domain::notify::{Event, EventKind};
use pages::PageAddress;
use rules::{MonitorId, WorkspaceId};
use store::{PublicPageRef, Store};
use tokio::time::timeout;
use tracing::warn;

use super::send::Sender;

/// Time that a message waits for its link.
const WITHIN: Duration = Duration::from_secs(2);

/// Returns the link for these events of one message. If the database does not respond in time, the
/// message is sent without a link.
pub(super) async fn page_link(
    store: &Store,
    sender: &Sender,
    workspace: WorkspaceId,
    events: &[Event],
) -> Option<String> {
    let origin = sender.public_url.as_deref()?;
    let mut monitors: Vec<MonitorId> = events.iter().map(|event| event.monitor.id).collect();
    monitors.sort_unstable();
    monitors.dedup();
    match timeout(WITHIN, store.public_pages().open_page(workspace, &monitors)).await {
        Ok(Ok(page)) => page.and_then(|page| link(origin, &page, events)),
        Ok(Err(error)) => {
            warn!(%error, "sending a message without a link: {error}");
            None
        }
        Err(_) => {
            warn!(
                "sending a message without a link: the database did not respond within {WITHIN:?}"
            );
            None
        }
    }
}

fn link(origin: &str, page: &PublicPageRef, events: &[Event]) -> Option<String> {
    let page_url = PageAddress::Slug(page.slug.clone()).url(Some(origin));
    match events {
        // The monitor of a test does not exist.
        [] | [Event { kind: EventKind::Test, .. }] => None,
        [Event { incident: Some(incident), .. }] => Some(format!("{page_url}/incident/{incident}")),
        [_] => Some(format!("{page_url}/component/{}", page.component)),
        [_, _, ..] => Some(page_url),
    }
}
