//! Connects status pages to the pipeline: the last checks, and emails.

use std::collections::{HashMap, HashSet};

use domain::notify::Mail;
use pages::{Backend, BoxFuture};
use rules::{MonitorId, ProviderType, Region, Timestamp, WorkspaceId};

use crate::pipeline::{Notifier, Pipeline};

/// The pipeline and the notifier of this server.
#[derive(Debug)]
pub(super) struct PageBackend {
    pub(super) pipeline: Pipeline,
    pub(super) notifier: Notifier,
}

impl Backend for PageBackend {
    fn last_checks(
        &self,
        monitors: Vec<MonitorId>,
    ) -> BoxFuture<'_, HashMap<MonitorId, Timestamp>> {
        // Without an answer, no times are known.
        Box::pin(async { self.pipeline.checked(monitors).await.unwrap_or_default() })
    }

    fn places(&self, workspace: WorkspaceId, regions: &[Region]) -> usize {
        let probes = self.pipeline.probes().of(workspace);
        let places: HashSet<_> = regions.iter().map(|it| probes.serving(*it).probe).collect();
        places.len()
    }

    fn can_send_emails(&self) -> bool {
        self.notifier.missing_setting(ProviderType::Email).is_none()
    }

    fn send_email(
        &self,
        workspace: WorkspaceId,
        mail: Mail,
    ) -> BoxFuture<'static, Result<(), String>> {
        let notifier = self.notifier.clone();
        Box::pin(async move { notifier.send_email(workspace, mail).await })
    }
}
