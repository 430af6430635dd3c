//! Probes for an operator: creates, lists and deletes them, and rotates their tokens, by name or ID.
//! [`ProbeAdmin`] does the work.

use std::cmp::Reverse;

use rules::nearest;
use store::{OperatorContext, ProbeOwner, StoredProbe, Workspace};

use super::probe_operation::{ProbeOperation, ProbeReply};
use super::service::control_error;
use super::{ControlError, ControlService, CreateProbe, CreatedProbe, ProbeRow};
use crate::probe_admin::{IssuedProbe, ListedProbe, ProbeAdmin, ProbeAdminError, ProbeDraft};

impl ControlService {
    /// Creates a probe and returns the only copy of its token.
    pub async fn create_probe(&self, new: CreateProbe) -> Result<CreatedProbe, ControlError> {
        let CreateProbe { workspace, name, regions } = new;
        let workspace = match workspace {
            Some(slug) => Some(self.workspace(&slug).await?.id),
            None => None,
        };
        let draft = ProbeDraft { workspace, name, regions };
        let created = self.probes().create(draft, self.author()).await;
        created.map(|issued| self.reply(issued)).map_err(|error| match error {
            ProbeAdminError::Invalid(violations) => violations.into(),
            ProbeAdminError::Store(error) => control_error(error),
        })
    }

    /// Returns all probes, newest first.
    pub async fn list_probes(&self) -> Result<Vec<ProbeRow>, ControlError> {
        let mut probes = self.probes().list().await.map_err(control_error)?;
        probes.sort_by_key(|probe| Reverse((probe.stored.created_at, probe.stored.id)));
        let workspaces = self.store.workspaces().list().await.map_err(control_error)?;
        Ok(probes.into_iter().map(|listed| row(listed, &workspaces)).collect())
    }

    /// Gives the probe with this name or ID a new token, and returns its only copy.
    pub async fn rotate_probe(&self, probe: &str) -> Result<CreatedProbe, ControlError> {
        let id = self.find_probe(probe).await?.id;
        let issued = self.probes().rotate(id, self.author()).await.map_err(control_error)?;
        Ok(self.reply(issued))
    }

    /// Deletes the probe with this name or ID, and returns it. Its tokens end at once.
    pub async fn delete_probe(&self, probe: &str) -> Result<ProbeRow, ControlError> {
        let stored = self.find_probe(probe).await?;
        self.probes().delete(stored.id, self.author()).await.map_err(control_error)?;
        let workspaces = self.store.workspaces().list().await.map_err(control_error)?;
        Ok(row(ListedProbe { stored, connected: None }, &workspaces))
    }

    fn probes(&self) -> ProbeAdmin {
        ProbeAdmin {
            ctx: self.ctx().clone(),
            store: self.store.clone(),
            pipeline: self.pipeline.clone(),
        }
    }

    fn author(&self) -> OperatorContext {
        OperatorContext::of_server(self.change())
    }

    fn reply(&self, issued: IssuedProbe) -> CreatedProbe {
        let StoredProbe { id, name, regions, .. } = issued.probe.stored;
        CreatedProbe { id, name, regions, token: issued.token, server_url: self.server_url() }
    }

    pub(super) async fn perform_on_probes(
        &self,
        operation: ProbeOperation,
    ) -> Result<ProbeReply, ControlError> {
        Ok(match operation {
            ProbeOperation::Create(new) => ProbeReply::Token(self.create_probe(new).await?),
            ProbeOperation::List => ProbeReply::Listed(self.list_probes().await?),
            ProbeOperation::Rotate { probe } => ProbeReply::Token(self.rotate_probe(&probe).await?),
            ProbeOperation::Delete { probe } => {
                ProbeReply::Deleted(self.delete_probe(&probe).await?)
            }
        })
    }

    async fn find_probe(&self, wanted: &str) -> Result<StoredProbe, ControlError> {
        let probes = self.store.probes().list().await.map_err(control_error)?;
        let is_wanted =
            |probe: &StoredProbe| probe.name == wanted || probe.id.to_string() == wanted;
        let found: Vec<&StoredProbe> = probes.iter().filter(|probe| is_wanted(probe)).collect();
        // A workspace must not take the name of the operator's probe away.
        let is_own = |probe: &&&StoredProbe| probe.owner == ProbeOwner::Operator;
        let found = match *found {
            [found] => Some(found),
            _ => found.iter().find(is_own).copied(),
        };
        if let Some(found) = found {
            return Ok(found.clone());
        }
        let ids = probes.iter().filter(|probe| is_wanted(probe)).map(|it| it.id.to_string());
        let ids: Vec<String> = ids.collect();
        if !ids.is_empty() {
            let ids = ids.join(", ");
            let why = format!("several probes are named `{wanted}`; use an ID: {ids}");
            return Err(ControlError::Refused(why));
        }
        let own = probes.iter().filter(|probe| probe.owner == ProbeOwner::Operator);
        let names: Vec<&str> = own.map(|probe| probe.name.as_str()).collect();
        let way_out = match nearest(wanted, &names) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "see `aloft probes list`".to_owned(),
        };
        Err(ControlError::Refused(format!("unknown probe `{wanted}`; {way_out}")))
    }
}

/// Returns the row of a probe, with the slug of its workspace.
fn row(listed: ListedProbe, workspaces: &[Workspace]) -> ProbeRow {
    let probe = listed.stored;
    let workspace = match probe.owner {
        ProbeOwner::Operator => None,
        ProbeOwner::Workspace(id) => {
            let owner = workspaces.iter().find(|workspace| workspace.id == id);
            Some(owner.map_or_else(|| id.to_string(), |owner| owner.slug.clone()))
        }
    };
    ProbeRow {
        id: probe.id,
        name: probe.name,
        workspace,
        regions: probe.regions,
        created_at: probe.created_at,
        last_seen_at: probe.last_seen_at,
        version: probe.version,
        address: probe.address,
        previous_token_ends_at: probe.previous_until,
        connected: listed.connected,
    }
}
