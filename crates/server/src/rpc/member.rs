//! `member.v1.MemberService`: members and invitations. The store decides in each transaction whether
//! the author may make the change; this service rejects hopeless calls early.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::member::wire::{
    CreateInvitationRequest, CreateInvitationResponse, Invitation as WireInvitation,
    ListInvitationsRequest, ListInvitationsResponse, ListMembersRequest, ListMembersResponse,
    Member as WireMember, MemberService, RemoveMemberRequest, RemoveMemberResponse,
    RevokeInvitationRequest, RevokeInvitationResponse, UpdateMemberRequest, UpdateMemberResponse,
};
use contract::monitor::encode_instant;
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use contract::{SecretVisibility, encode_address};
use rules::{InvitationId, Role, UserId, Validator, limits, tables};
use store::{Invitation, InvitationHash, Member, MemberRole, NewInvitation};
use web::context::Context;
use web::limits::AttemptLimiter;

use super::list::{PageRequest, encode_total};
use super::request::{caller, change, id, require_person, secrets};
use crate::actor;
use crate::auth::{Caller, Principal};
use crate::rpc::{Services, rpc_error};

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Members(pub(super) Services);

impl MemberService for Members {
    async fn list_members(
        &self,
        context: RequestContext,
        request: ListMembersRequest,
    ) -> ServiceResult<ListMembersResponse> {
        let caller = caller(&context);
        let page_token = request.page_token.as_deref();
        let page = PageRequest { limit: request.limit, offset: request.offset, page_token }
            .parse()
            .map_err(|violations| rpc::invalid(&violations))?;
        let found = self.0.store.members().list(caller.workspace, page.with_one_more()).await;
        let found = found.map_err(rpc_error)?;
        let encode = |member: &_| encode_member(member, secrets(caller));
        let (members, next_page_token) =
            page.cut(&found, |member| member.user.id, encode, rpc::encoded_bytes);
        let total_size = encode_total(found.total);
        Response::ok(ListMembersResponse { members, total_size, next_page_token })
    }

    async fn update_member(
        &self,
        context: RequestContext,
        request: UpdateMemberRequest,
    ) -> ServiceResult<UpdateMemberResponse> {
        let caller = caller(&context);
        require_person(caller, Role::Admin)?;
        let user = user_id(&request.user_id)?;
        let role = parse_role(request.role)?;
        let new = MemberRole { workspace: caller.workspace, user, role };
        let changed = self.0.store.members().change_role(new, change(&self.0, caller)).await;
        changed.map_err(rpc_error)?;
        let member = self.0.store.members().get(caller.workspace, user).await;
        let member = encode_member(&member.map_err(rpc_error)?, secrets(caller)).into();
        Response::ok(UpdateMemberResponse { member })
    }

    async fn remove_member(
        &self,
        context: RequestContext,
        request: RemoveMemberRequest,
    ) -> ServiceResult<RemoveMemberResponse> {
        let caller = caller(&context);
        let leaves = match caller.principal {
            Principal::Member { user, .. } => user.to_string() == request.user_id,
            Principal::Key(_) => false,
        };
        // Everybody may leave.
        if !leaves {
            require_person(caller, Role::Admin)?;
        }
        let user = user_id(&request.user_id)?;
        let members = self.0.store.members();
        let removed = members.remove(caller.workspace, user, change(&self.0, caller)).await;
        removed.map_err(rpc_error)?;
        Response::ok(RemoveMemberResponse::default())
    }

    async fn list_invitations(
        &self,
        context: RequestContext,
        request: ListInvitationsRequest,
    ) -> ServiceResult<ListInvitationsResponse> {
        let caller = caller(&context);
        let page_token = request.page_token.as_deref();
        let page = PageRequest { limit: request.limit, offset: request.offset, page_token }
            .parse()
            .map_err(|violations| rpc::invalid(&violations))?;
        let (invitations, now) = (self.0.store.invitations(), self.0.ctx.now());
        let found = invitations.list(caller.workspace, page.with_one_more(), now).await;
        let found = found.map_err(rpc_error)?;
        let encode = |invitation: &_| encode_invitation(invitation, secrets(caller));
        let (invitations, next_page_token) =
            page.cut(&found, |invitation| invitation.id, encode, rpc::encoded_bytes);
        let total_size = encode_total(found.total);
        Response::ok(ListInvitationsResponse { invitations, total_size, next_page_token })
    }

    async fn create_invitation(
        &self,
        context: RequestContext,
        request: CreateInvitationRequest,
    ) -> ServiceResult<CreateInvitationResponse> {
        let caller = caller(&context);
        require_person(caller, Role::Admin)?;
        let mut validator = Validator::new(&tables::INVITATION);
        let role = validator.word("role", Some(request.role));
        let email = validator.text("email", request.email);
        let role = validator.finish(role).map_err(|violations| rpc::invalid(&violations))?;
        self.count_invitation(caller)?;
        let change = change(&self.0, caller);
        let expires_at = change.at + limits::INVITATION_LIFETIME;
        let (id, workspace) = (self.0.ctx.new_id(), caller.workspace);
        let new = NewInvitation { id, workspace, email, role, expires_at };
        let token = URL_SAFE_NO_PAD.encode(self.0.ctx.secret_bytes());
        let hash = InvitationHash::new(&token);
        let invitations = self.0.store.invitations();
        invitations.create(new, hash, change).await.map_err(rpc_error)?;
        let stored = invitations.find(hash, change.at).await.map_err(rpc_error)?;
        let (invitation, _) =
            stored.ok_or_else(|| rpc::not_found("invitation", &id.to_string()))?;
        let invitation = encode_invitation(&invitation, secrets(caller)).into();
        Response::ok(CreateInvitationResponse { invitation, token })
    }

    async fn revoke_invitation(
        &self,
        context: RequestContext,
        request: RevokeInvitationRequest,
    ) -> ServiceResult<RevokeInvitationResponse> {
        let caller = caller(&context);
        require_person(caller, Role::Admin)?;
        let id: InvitationId = id("invitation", &request.id)?;
        let change = change(&self.0, caller);
        let revoked = self.0.store.invitations().revoke(caller.workspace, id, change).await;
        revoked.map_err(rpc_error)?;
        Response::ok(RevokeInvitationResponse::default())
    }
}

/// Returns limits without entries for the invitations of persons.
pub(crate) fn invitation_limits(ctx: &Context) -> AttemptLimiter<UserId> {
    const MOST: NonZeroU32 = NonZeroU32::new(limits::INVITATION_CREATIONS).expect("it is not 0");
    AttemptLimiter::new(ctx, MOST, limits::INVITATION_CREATIONS_IN)
}

impl Members {
    /// Counts an invitation of a person.
    fn count_invitation(&self, caller: Caller) -> Result<(), Error> {
        let user = match caller.principal {
            Principal::Member { user, .. } => user,
            // `require_person` refused it before.
            Principal::Key(_) => return Ok(()),
        };
        self.0.invitations.acquire(&user).map_err(|wait| {
            let most = limits::INVITATION_CREATIONS;
            let message = format!("you invited more than {most} people in an hour; wait and retry");
            rpc::resource_exhausted(message, wait)
        })
    }
}

fn user_id(given: &str) -> Result<UserId, Error> {
    id("member", given)
}

fn parse_role(given: String) -> Result<Role, Error> {
    let mut validator = Validator::new(&tables::INVITATION);
    let role = validator.word("role", Some(given));
    validator.finish(role).map_err(|violations| rpc::invalid(&violations))
}

fn encode_member(member: &Member, secrets: SecretVisibility) -> WireMember {
    WireMember {
        user_id: member.user.id.to_string(),
        name: member.user.name.clone(),
        email: encode_address(&member.user.email, secrets),
        role: member.role.to_string(),
        since: encode_instant(member.since),
        last_sign_in_at: member.last_sign_in_at.map(encode_instant).unwrap_or_default(),
    }
}

fn encode_invitation(invitation: &Invitation, secrets: SecretVisibility) -> WireInvitation {
    let email = invitation.email.as_deref();
    WireInvitation {
        id: invitation.id.to_string(),
        email: email.map(|email| encode_address(email, secrets)),
        role: invitation.role.to_string(),
        invited_by: actor::encode(invitation.invited_by.clone()),
        invited_by_name: invitation.invited_by_name.clone().unwrap_or_default(),
        created_at: encode_instant(invitation.created_at),
        expires_at: encode_instant(invitation.expires_at),
    }
}
