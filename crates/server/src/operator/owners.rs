//! Notifies the owners of workspaces whose monitors a suspect probe checks, by email: one email for each
//! person, however many workspaces it owns. The notifier retries an email that was not sent.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use rules::{UserId, WorkspaceId};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::NoticeMeans;
use crate::pipeline::SuspicionNotice;

/// Maximum number of emails that are sent at once.
const AT_ONCE: usize = 8;

/// Task that sends the emails.
pub(super) struct OwnerNotifier {
    pub(super) means: NoticeMeans,
    pub(super) notices: mpsc::Receiver<SuspicionNotice>,
}

impl OwnerNotifier {
    /// Sends emails until the server stops.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        loop {
            let notice = tokio::select! {
                () = stop.cancelled() => return,
                notice = self.notices.recv() => notice,
            };
            let Some(notice) = notice else { return };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.notify(&notice) => {}
            }
        }
    }

    async fn notify(&self, notice: &SuspicionNotice) {
        let owners = self.owners(&notice.workspaces).await;
        let advice = if notice.is_suspect {
            "Until it recovers, this network may be the cause of alerts of your monitors, or of missing \
             ones."
        } else {
            "Nothing remains to be done."
        };
        let send = async |(workspace, to): (WorkspaceId, String)| {
            let mail = notice.mail(&to, (self.means.ctx.random(), advice));
            if let Err(why) = self.means.notifier.send_email(workspace, mail).await {
                tracing::warn!("failed to notify an owner of workspace {workspace}: {why}");
            }
        };
        stream::iter(owners.into_values()).for_each_concurrent(AT_ONCE, send).await;
    }

    /// Returns each owner's address, with one of the workspaces.
    async fn owners(&self, workspaces: &[WorkspaceId]) -> BTreeMap<UserId, (WorkspaceId, String)> {
        let mut owners = BTreeMap::new();
        for workspace in workspaces {
            match self.means.store.members().owners(*workspace).await {
                Ok(found) => {
                    owners.extend(found.into_iter().map(|it| (it.id, (*workspace, it.email))));
                }
                Err(error) => tracing::error!(
                    %error, "failed to find the owners of workspace {workspace} to notify: {error}"
                ),
            }
        }
        owners
    }
}
