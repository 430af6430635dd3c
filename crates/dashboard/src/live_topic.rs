//! Topics of live updates: what an open page shows besides the resources of its workspace. A page names
//! its topic in the attribute `data-live`, and its stream then has the events of that topic.

use std::time::Duration;

use contract::region::wire::ListRegionsRequest;
use rules::{MonitorId, WorkspaceId};
use store::{StoreError, Subject, SubjectWatch};
use tokio::time::timeout;

use crate::backend::CallingMember;
use crate::region_digests::RegionsDigest;
use crate::state::Dashboard;

/// Time for the pipeline to answer, so that a stream still ends with the server.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// Topic of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiveTopic {
    /// Resources and statuses of the workspace, and its windows of maintenance.
    Workspace,
    /// One monitor: its status, its incidents and its results. Statuses of other monitors are not
    /// events of its page.
    Monitor(MonitorId),
    /// Resources and statuses of the workspace, and all its deliveries.
    Deliveries,
    /// Health of regions.
    Regions,
}

/// Subjects in the store that a page watches.
#[derive(Debug, Default)]
pub(crate) struct TopicWatches {
    /// Changes to show at once.
    pub(crate) prompt: Option<SubjectWatch>,
    /// Frequent changes to show at intervals.
    pub(crate) frequent: Option<SubjectWatch>,
}

impl LiveTopic {
    /// Returns the topic with this name. An unknown one is the workspace.
    pub(crate) fn parse(name: &str) -> Self {
        match name.split_once(':') {
            Some(("monitor", id)) => id.parse().map_or(Self::Workspace, Self::Monitor),
            None if name == "deliveries" => Self::Deliveries,
            None if name == "regions" => Self::Regions,
            _ => Self::Workspace,
        }
    }

    /// Returns whether statuses of all monitors are events of the topic.
    pub(crate) const fn has_all_statuses(self) -> bool {
        matches!(self, Self::Workspace | Self::Deliveries)
    }

    /// Watches the subjects of the topic. Subjects of other workspaces are left out.
    pub(crate) async fn watch(
        self,
        state: &Dashboard,
        workspace: WorkspaceId,
    ) -> Result<TopicWatches, StoreError> {
        let (mut prompt, mut frequent) = (Vec::new(), Vec::new());
        match self {
            Self::Workspace | Self::Regions => {}
            Self::Monitor(id) => {
                if !state.store.monitors().names(workspace, &[id]).await?.is_empty() {
                    prompt.push(Subject::Status(id));
                    frequent.push(Subject::Results(id));
                }
            }
            Self::Deliveries => {
                let channels = state.store.channels().ids(workspace).await?;
                prompt.extend(channels.into_iter().map(Subject::Deliveries));
            }
        }
        let watch = |subjects: Vec<Subject>| {
            (!subjects.is_empty()).then(|| state.store.watch_subjects(subjects))
        };
        Ok(TopicWatches { prompt: watch(prompt), frequent: watch(frequent) })
    }
}

/// Returns the digest of the regions. `None` if the pipeline does not answer.
pub(crate) async fn regions_digest(
    state: &Dashboard,
    member: CallingMember,
) -> Option<RegionsDigest> {
    let ask = async {
        let asked = state.send(member, ListRegionsRequest {});
        let regions = timeout(ANSWER_WITHIN, asked).await.ok()?.ok()?.regions;
        Some(RegionsDigest::of(&regions))
    };
    state.regions.get(member.workspace, ask).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_topic_is_the_workspace() {
        let id = MonitorId::from_bits(7);
        for (name, expected) in [
            ("", LiveTopic::Workspace),
            ("deliveries", LiveTopic::Deliveries),
            ("regions", LiveTopic::Regions),
            (&*format!("monitor:{id}"), LiveTopic::Monitor(id)),
            ("monitor:mine", LiveTopic::Workspace),
            ("weather:today", LiveTopic::Workspace),
        ] {
            assert_eq!(LiveTopic::parse(name), expected, "{name}");
        }
    }
}
