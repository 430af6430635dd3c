//! Unconfirmed addresses that visitors requested. They do not count as subscribers of a page, and
//! have limits of their own, per network and per page. At the limit of the page, the network with
//! most of them loses its oldest one, so that nobody can block others by requesting many.

use rules::{PageId, SubscriberId, Timestamp, limits};

use crate::db::{Connection, query};
use crate::row::id;
use crate::{StoreError, outbox};

/// Returns whether a network, given by its hash, has the maximum number of unconfirmed addresses at
/// a page.
pub(super) async fn is_network_full(
    db: &mut Connection,
    page: PageId,
    network: &[u8],
) -> Result<bool, StoreError> {
    let count: Option<i64> = query(
        "SELECT COUNT(*) FROM subscribers WHERE page_id = $1 AND requester_hash = $2 \
         AND confirmed_at IS NULL",
    )
    .bind(page.to_string())
    .bind(network)
    .scalar(db)
    .await?;
    Ok(count.unwrap_or_default() >= i64::from(limits::SUBSCRIBERS_PENDING_PER_NETWORK))
}

/// Makes room for another address: at the limit, removes the oldest one of the network with most of
/// them.
pub(super) async fn make_room(
    db: &mut Connection,
    page: PageId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let count: Option<i64> = query(
        "SELECT COUNT(*) FROM subscribers WHERE page_id = $1 AND confirmed_at IS NULL \
         AND NOT by_owner",
    )
    .bind(page.to_string())
    .scalar(db)
    .await?;
    if count.unwrap_or_default() < i64::from(limits::SUBSCRIBERS_PENDING_MAX) {
        return Ok(());
    }
    // Addresses of unknown networks are older than that column, and count as one network.
    let oldest = query(
        "SELECT id FROM (SELECT id, requested_at, \
         COUNT(*) OVER (PARTITION BY requester_hash) AS addresses \
         FROM subscribers WHERE page_id = $1 AND confirmed_at IS NULL AND NOT by_owner) AS pending \
         ORDER BY addresses DESC, requested_at, id LIMIT 1",
    )
    .bind(page.to_string())
    .fetch_optional(db)
    .await?;
    let Some(row) = oldest else { return Ok(()) };
    let subscriber: SubscriberId = id(&row, "id", SubscriberId::parse)?;
    query("DELETE FROM subscribers WHERE id = $1")
        .bind(subscriber.to_string())
        .execute(&mut *db)
        .await?;
    outbox::cancel_for(db, subscriber, now).await
}
