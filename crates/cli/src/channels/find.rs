//! Finds the channel that a user means by an ID or a name.

use anyhow::Result;
use contract::notification::wire::ListNotificationsRequest;
use rules::ChannelId;

use crate::named::{self, NamedId};
use crate::paging::{NextPage, Paging};
use crate::session::Session;

/// Returns the ID of a channel. An ID is returned as it is.
pub(super) async fn id(session: &Session<'_>, given: &str) -> Result<String> {
    if ChannelId::parse(given).is_ok() {
        return Ok(given.to_owned());
    }
    let mut paging = Paging::of_all();
    let (mut known, mut token): (Vec<NamedId>, _) = (Vec::new(), String::new());
    while let Some(NextPage { limit, page_token }) = paging.next(known.len(), &token) {
        let request = ListNotificationsRequest { limit, page_token, ..Default::default() };
        let page = session.send("listing channels", request).await?;
        known.extend(page.notifications.into_iter().map(|it| NamedId {
            id: it.id.unwrap_or_default(),
            name: it.name.unwrap_or_default(),
        }));
        token = page.next_page_token;
    }
    Ok(known.swap_remove(named::position("channel", given, &known)?).id)
}
