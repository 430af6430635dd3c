//! Manages probes in other places, for `control` and `rpc`: creates and deletes them, and rotates their
//! tokens. The pipeline of a running server follows the changes through [`store::Probes::changed`].

use rules::{
    ProbeId, Region, Secret, Validator, Violation, Violations, WorkspaceId, limits, tables,
};
use store::{
    KeyHash, NewProbe, NewProbeToken, OperatorContext, ProbeOwner, Store, StoreError, StoredProbe,
};
use web::context::Context;

use crate::auth::probe_token;
use crate::pipeline::Pipeline;

/// Administration of probes.
#[derive(Clone, Debug)]
pub(crate) struct ProbeAdmin {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    /// The running checks, in a server only.
    pub(crate) pipeline: Option<Pipeline>,
}

/// A probe to create.
#[derive(Clone, Debug)]
pub(crate) struct ProbeDraft {
    /// Workspace of private regions, if it is known.
    pub(crate) workspace: Option<WorkspaceId>,
    /// Name; `None` joins the names of the regions.
    pub(crate) name: Option<String>,
    /// Regions that it serves.
    pub(crate) regions: Vec<Region>,
}

/// A probe with its new token, the only time that it is known.
#[derive(Debug)]
pub(crate) struct IssuedProbe {
    pub(crate) probe: ListedProbe,
    pub(crate) token: Secret<String>,
}

/// A stored probe with its connection.
#[derive(Clone, Debug)]
pub(crate) struct ListedProbe {
    pub(crate) stored: StoredProbe,
    /// Whether it is connected now. `None` without a running server.
    pub(crate) connected: Option<bool>,
}

/// Reason why probes were not changed.
#[derive(Debug)]
pub(crate) enum ProbeAdminError {
    /// The draft breaks rules.
    Invalid(Violations),
    Store(StoreError),
}

impl From<StoreError> for ProbeAdminError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl ProbeAdmin {
    /// Creates a probe with its first token.
    pub(crate) async fn create(
        &self,
        draft: ProbeDraft,
        author: OperatorContext,
    ) -> Result<IssuedProbe, ProbeAdminError> {
        let NewProbe { id, owner, name, regions } = self.validate(draft)?;
        let token = self.new_token(id);
        let words = join(&regions, ", ");
        let log = format!("created probe `{name}` for {words}");
        let new = NewProbe { id, owner, name, regions };
        self.store.probes().create(new, KeyHash::new(token.expose()), author).await?;
        tracing::info!(probe.id = %id, "{log}");
        if let Some(pipeline) = &self.pipeline {
            pipeline.wait_for_probe(id).await;
        }
        Ok(IssuedProbe { probe: self.get(id).await?, token })
    }

    /// Returns all probes by name.
    pub(crate) async fn list(&self) -> Result<Vec<ListedProbe>, StoreError> {
        let stored = self.store.probes().list().await?;
        Ok(stored.into_iter().map(|probe| self.listed(probe)).collect())
    }

    /// Returns the probes that a workspace manages: its own, and all others if it is the operator's.
    pub(crate) async fn list_for(
        &self,
        workspace: WorkspaceId,
    ) -> Result<Vec<ListedProbe>, StoreError> {
        let mut stored = self.store.probes().list_of(workspace).await?;
        if self.store.workspaces().is_operator(workspace).await? {
            stored.extend(self.store.probes().list_of_operator().await?);
        }
        Ok(stored.into_iter().map(|probe| self.listed(probe)).collect())
    }

    /// Gives a probe a new token. The previous token stays valid for
    /// [`limits::PROBE_TOKEN_OVERLAP`], unless the new one is used before.
    pub(crate) async fn rotate(
        &self,
        id: ProbeId,
        author: OperatorContext,
    ) -> Result<IssuedProbe, StoreError> {
        let token = self.new_token(id);
        let rotation = NewProbeToken {
            token: KeyHash::new(token.expose()),
            previous_until: author.change.at + limits::PROBE_TOKEN_OVERLAP,
        };
        self.store.probes().rotate(id, rotation, author).await?;
        let probe = self.get(id).await?;
        tracing::info!(probe.id = %id, "rotated the token of probe `{}`", probe.stored.name);
        Ok(IssuedProbe { probe, token })
    }

    /// Deletes a probe. Its tokens end at once.
    pub(crate) async fn delete(
        &self,
        id: ProbeId,
        author: OperatorContext,
    ) -> Result<(), StoreError> {
        self.store.probes().delete(id, author).await?;
        tracing::info!(probe.id = %id, "deleted a probe");
        Ok(())
    }

    async fn get(&self, id: ProbeId) -> Result<ListedProbe, StoreError> {
        let stored = self.store.probes().get(id).await?;
        Ok(self.listed(stored))
    }

    fn listed(&self, stored: StoredProbe) -> ListedProbe {
        let pipeline = self.pipeline.as_ref();
        let connected = pipeline.map(|pipeline| pipeline.is_probe_connected(stored.id));
        ListedProbe { stored, connected }
    }

    fn validate(&self, draft: ProbeDraft) -> Result<NewProbe, ProbeAdminError> {
        let ProbeDraft { workspace, name, mut regions } = draft;
        regions.sort_unstable();
        regions.dedup();
        let refused = |violation: Violation| ProbeAdminError::Invalid(violation.into());
        if regions.is_empty() {
            let allowed = "must have at least one region";
            return Err(refused(Violation::without_value("regions", allowed)));
        }
        let owner = owner(&regions, workspace).map_err(refused)?;
        let name = match name {
            Some(name) => name,
            None => default_name(&regions).map_err(refused)?,
        };
        let mut validator = Validator::new(&tables::PROBE);
        let name = validator.text("name", Some(name));
        let name = validator.finish(name).map_err(ProbeAdminError::Invalid)?;
        Ok(NewProbe { id: self.ctx.new_id(), owner, name, regions })
    }

    fn new_token(&self, probe: ProbeId) -> Secret<String> {
        probe_token::compose(probe, &self.ctx.secret_bytes())
    }
}

/// Returns the owner of a probe for these regions.
fn owner(regions: &[Region], workspace: Option<WorkspaceId>) -> Result<ProbeOwner, Violation> {
    let private = regions.iter().filter(|region| region.is_private()).count();
    let refused = |allowed| Err(Violation::without_value("regions", allowed));
    match (private, workspace) {
        (0, None) => Ok(ProbeOwner::Operator),
        (0, Some(_)) => refused("must be private with a workspace; others serve all workspaces"),
        (private, _) if private < regions.len() => {
            refused("must not mix private regions with others, because a probe has one owner")
        }
        (_, Some(workspace)) => Ok(ProbeOwner::Workspace(workspace)),
        (_, None) => refused("must not be private without a workspace: add --workspace SLUG"),
    }
}

/// Joins the names of the regions.
fn default_name(regions: &[Region]) -> Result<String, Violation> {
    let name = join(regions, "-");
    let most = tables::PROBE_NAME_CHARS_MAX;
    if name.len() <= most as usize {
        return Ok(name);
    }
    let count = regions.len();
    let allowed =
        format!("is required: the names of its {count} regions have more than {most} characters");
    Err(Violation::without_value("name", allowed))
}

fn join(regions: &[Region], separator: &str) -> String {
    regions.iter().map(|region| region.as_str()).collect::<Vec<_>>().join(separator)
}
