//! `probe.v1.ProbeService`: creates, lists and deletes probes, and rotates their tokens. The store
//! decides in each transaction whether the author owns the probe: the operator, or the workspace of a
//! private region.

use std::cmp::Reverse;

use contract::monitor::encode_instant;
use contract::probe::wire::{
    CreateProbeRequest, CreateProbeResponse, DeleteProbeRequest, DeleteProbeResponse,
    ListProbesRequest, ListProbesResponse, Probe as WireProbe, ProbeService,
    RotateProbeTokenRequest, RotateProbeTokenResponse,
};
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use rules::{ProbeId, Region, Role, Validator, tables};
use store::{OperatorContext, StoreError, StoredProbe};

use super::request::{caller, change, id, require_role};
use crate::auth::Caller;
use crate::probe_admin::{IssuedProbe, ListedProbe, ProbeAdmin, ProbeAdminError, ProbeDraft};
use crate::rpc::{Services, rpc_error};

/// Noun of this resource in error messages.
const NOUN: &str = "probe";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct ProbeMethods(pub(super) Services);

impl ProbeService for ProbeMethods {
    async fn list_probes(
        &self,
        context: RequestContext,
        _: ListProbesRequest,
    ) -> ServiceResult<ListProbesResponse> {
        let caller = caller(&context);
        require_role(caller, Role::Admin)?;
        let mut probes = self.admin().list_for(caller.workspace).await.map_err(rpc_error)?;
        probes.sort_by_key(|probe| Reverse((probe.stored.created_at, probe.stored.id)));
        Response::ok(ListProbesResponse { probes: probes.into_iter().map(encode).collect() })
    }

    async fn create_probe(
        &self,
        context: RequestContext,
        request: CreateProbeRequest,
    ) -> ServiceResult<CreateProbeResponse> {
        let caller = caller(&context);
        require_role(caller, Role::Admin)?;
        let mut validator = Validator::new(&tables::PROBE);
        let regions: Vec<Region> = validator.variant_set("regions", request.regions);
        let regions =
            validator.finish(Some(regions)).map_err(|violations| rpc::invalid(&violations))?;
        let is_private = regions.iter().any(|region| region.is_private());
        if !is_private && !regions.is_empty() {
            self.require_operator(caller).await?;
        }
        self.0.probe_tokens.count_creation(caller.workspace)?;
        let workspace = is_private.then_some(caller.workspace);
        let draft = ProbeDraft { workspace, name: request.name, regions };
        let created = self.admin().create(draft, self.author(caller)).await;
        let IssuedProbe { probe, token } = created.map_err(|error| match error {
            ProbeAdminError::Invalid(violations) => rpc::invalid(&violations),
            ProbeAdminError::Store(error) => rpc_error(error),
        })?;
        Response::ok(CreateProbeResponse {
            probe: encode(probe).into(),
            command: remote::start_command(self.0.pages.url(), &token),
            token: token.expose().clone(),
        })
    }

    async fn rotate_probe_token(
        &self,
        context: RequestContext,
        request: RotateProbeTokenRequest,
    ) -> ServiceResult<RotateProbeTokenResponse> {
        let caller = caller(&context);
        require_role(caller, Role::Admin)?;
        let id: ProbeId = id(NOUN, &request.id)?;
        let rotated = self.admin().rotate(id, self.author(caller)).await;
        let IssuedProbe { probe, token } = rotated.map_err(rpc_error)?;
        Response::ok(RotateProbeTokenResponse {
            probe: encode(probe).into(),
            command: remote::start_command(self.0.pages.url(), &token),
            token: token.expose().clone(),
        })
    }

    async fn delete_probe(
        &self,
        context: RequestContext,
        request: DeleteProbeRequest,
    ) -> ServiceResult<DeleteProbeResponse> {
        let caller = caller(&context);
        require_role(caller, Role::Admin)?;
        let id: ProbeId = id(NOUN, &request.id)?;
        self.admin().delete(id, self.author(caller)).await.map_err(rpc_error)?;
        Response::ok(DeleteProbeResponse::default())
    }
}

impl ProbeMethods {
    fn admin(&self) -> ProbeAdmin {
        ProbeAdmin {
            ctx: self.0.ctx.clone(),
            store: self.0.store.clone(),
            pipeline: Some(self.0.pipeline.clone()),
        }
    }

    fn author(&self, caller: Caller) -> OperatorContext {
        OperatorContext::in_workspace(caller.workspace, change(&self.0, caller))
    }

    /// Rejects a caller who may not create probes for all workspaces.
    async fn require_operator(&self, caller: Caller) -> Result<(), Error> {
        match self.0.store.workspaces().is_operator(caller.workspace).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(rpc_error(StoreError::OperatorRequired)),
            Err(error) => Err(rpc_error(error)),
        }
    }
}

fn encode(listed: ListedProbe) -> WireProbe {
    let ListedProbe { stored, connected } = listed;
    let StoredProbe { id, name, regions, created_at, previous_until, last_seen_at, .. } = stored;
    WireProbe {
        id: id.to_string(),
        name,
        regions: regions.iter().map(ToString::to_string).collect(),
        created_at: encode_instant(created_at),
        connected: connected.unwrap_or_default(),
        last_seen_at: last_seen_at.map(encode_instant).unwrap_or_default(),
        version: stored.version.unwrap_or_default(),
        address: stored.address.unwrap_or_default(),
        previous_token_ends_at: previous_until.map(encode_instant).unwrap_or_default(),
    }
}
