//! Addresses that visitors asked for and nobody confirmed yet. They take nobody's place among the
//! subscribers of a page, and have room of their own: some of one network, and some of a page. Where that
//! is full, the network with most of them gives way, so that nobody keeps others out by asking.

use rules::{PageId, SubscriberId, Timestamp, limits};

use crate::db::{Connection, query};
use crate::row::id;
use crate::{StoreError, outbox};

/// Whether a network, by its digest, has asked for as many addresses at a page as it may.
pub(super) async fn is_full_of(
    db: &mut Connection,
    page: PageId,
    network: &[u8],
) -> Result<bool, StoreError> {
    let count: Option<i64> = query(
        "SELECT COUNT(*) FROM subscribers WHERE page_id = $1 AND asked_from = $2 \
         AND confirmed_at IS NULL",
    )
    .bind(page.to_string())
    .bind(network)
    .scalar(db)
    .await?;
    Ok(count.unwrap_or_default() >= i64::from(limits::SUBSCRIBERS_PENDING_PER_NETWORK))
}

/// Makes room for one more: of the network with most of them, the one that was asked longest ago is
/// forgotten.
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
    // Of whom the network is not known, because they asked before it was kept, are as of one.
    let oldest = query(
        "SELECT id FROM (SELECT id, asked_at, COUNT(*) OVER (PARTITION BY asked_from) AS addresses \
         FROM subscribers WHERE page_id = $1 AND confirmed_at IS NULL AND NOT by_owner) AS pending \
         ORDER BY addresses DESC, asked_at, id LIMIT 1",
    )
    .bind(page.to_string())
    .fetch_optional(db)
    .await?;
    let Some(row) = oldest else { return Ok(()) };
    let subscriber: SubscriberId = id(&row, 0, SubscriberId::parse)?;
    query("DELETE FROM subscribers WHERE id = $1")
        .bind(subscriber.to_string())
        .execute(&mut *db)
        .await?;
    outbox::leave(db, subscriber, now).await
}
