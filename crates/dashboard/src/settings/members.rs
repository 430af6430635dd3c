//! Members of a workspace and open invitations.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::member::wire::{
    CreateInvitationRequest, Invitation, ListInvitationsRequest, ListMembersRequest,
    Member as WireMember, RemoveMemberRequest, RevokeInvitationRequest, UpdateMemberRequest,
};
use http::{HeaderMap, StatusCode};
use rules::Role;
use serde::Deserialize;

use super::Tab;
use super::workspace::Entered;
use crate::error::{ScreenError, is_about_input};
use crate::extract::{Asked, Posted};
use crate::form::Messages;
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

/// Members and invitations on a page.
const LIMIT: i32 = 100;

#[derive(Template)]
#[template(path = "settings/members.html")]
struct MembersPage {
    frame: Frame,
    tab: Tab,
    members: Vec<MemberRow>,
    invitations: Vec<InvitationRow>,
    email: Entered,
    role: Entered,
    roles: Vec<Role>,
    may_edit: bool,
    /// Token of the next page of members.
    next: Option<String>,
    /// Token of the next page of invitations.
    next_invitations: Option<String>,
}

/// Pages of the two lists.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct MembersListing {
    page: Option<String>,
    invitations: Option<String>,
}

#[derive(Template)]
#[template(path = "settings/invited.html")]
struct InvitedPage {
    frame: Frame,
    tab: Tab,
    link: String,
    /// Address that the invitation was sent to.
    sent_to: Option<String>,
    /// Reason that no email was sent.
    unsent: Option<String>,
}

/// A member as the list shows it.
struct MemberRow {
    member: WireMember,
    since: Option<String>,
    last_sign_in_at: Option<String>,
    is_self: bool,
}

/// An invitation as the list shows it.
struct InvitationRow {
    invitation: Invitation,
    expires_at: Option<String>,
}

/// The form of an invitation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InvitationForm {
    email: String,
    role: String,
}

/// Inputs of the form of an invitation, with their messages.
struct InvitationInput {
    email: Entered,
    role: Entered,
}

/// The form of a member's role.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RoleForm {
    role: String,
}

/// Lists members and invitations.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(listing): Asked<MembersListing>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = page(&state, &member, (listing, InvitationInput::new()), &request).await?;
    Ok(html::page(&page, &request))
}

/// Changes the role of a member.
pub(crate) async fn set_role(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, user_id)): Path<(String, String)>,
    Posted(RoleForm { role }): Posted<RoleForm>,
) -> Result<Response, ScreenError> {
    let update = UpdateMemberRequest { user_id, role };
    state.send(member.caller(), update).await?;
    Ok(redirect_with_notice(&member.path(Tab::Members.path()), "The role was changed."))
}

/// Removes a member, or lets the person leave.
pub(crate) async fn remove(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, user_id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let leaves = user_id == member.signed_in.user.id.to_string();
    let remove = RemoveMemberRequest { user_id };
    state.send(member.caller(), remove).await?;
    if leaves {
        return Ok(redirect_with_notice("/", "You left the workspace."));
    }
    Ok(redirect_with_notice(&member.path(Tab::Members.path()), "The member was removed."))
}

/// Invites somebody: by email if an address is given and emails can be sent, and by a link in any
/// case.
pub(crate) async fn invite(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(given): Posted<InvitationForm>,
) -> Result<Response, ScreenError> {
    let email = Some(given.email.trim().to_owned()).filter(|email| !email.is_empty());
    let create = CreateInvitationRequest { email: email.clone(), role: given.role.clone() };
    let created = match state.send(member.caller(), create).await {
        Ok(created) => created,
        Err(error) if is_about_input(error.code) => {
            let messages = Messages::from_error(&error, "invitation");
            let role = Entered { value: given.role, error: messages.get("role") };
            let why = messages.get("email");
            let whole = || messages.whole().filter(|_| role.error.is_none()).map(str::to_owned);
            let email = Entered { value: given.email, error: why.or_else(whole) };
            let entered = InvitationInput { email, role };
            let page =
                page(&state, &member, (MembersListing::default(), entered), &request).await?;
            return Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request));
        }
        Err(error) => return Err(error.into()),
    };
    let link = state.url(&format!("/invite/{}", created.token));
    let unsent = match &email {
        Some(email) => crate::invitation::send(&state, &member, email, &link).await.err(),
        None => None,
    };
    let page = InvitedPage {
        frame: Frame::of_member(&member, Section::Settings, "Invitation", &request),
        tab: Tab::Members,
        link,
        sent_to: email.filter(|_| unsent.is_none()),
        unsent,
    };
    Ok(html::page(&page, &request))
}

/// Revokes an invitation. Its link stops working.
pub(crate) async fn revoke_invitation(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let revoke = RevokeInvitationRequest { id };
    state.send(member.caller(), revoke).await?;
    Ok(redirect_with_notice(&member.path(Tab::Members.path()), "The invitation was revoked."))
}

impl InvitationInput {
    /// Returns the inputs of a new form.
    fn new() -> Self {
        let role = Entered { value: Role::Editor.to_string(), error: None };
        Self { email: Entered::default(), role }
    }
}

impl MemberRow {
    /// Returns the verb of the button that ends the membership.
    const fn verb(&self) -> &'static str {
        if self.is_self { "Leave" } else { "Remove" }
    }

    /// Returns the object of the verb.
    fn what(&self) -> &str {
        if self.is_self { "the workspace" } else { &self.member.name }
    }

    /// Returns the consequence.
    const fn question(&self) -> &'static str {
        if self.is_self {
            "You need an invitation to come back."
        } else {
            "The person loses access at once. An invitation brings them back."
        }
    }
}

fn token(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

async fn page(
    state: &Dashboard,
    member: &Member,
    (listing, input): (MembersListing, InvitationInput),
    request: &HeaderMap,
) -> Result<MembersPage, ScreenError> {
    let (caller, own) = (member.caller(), member.signed_in.user.id.to_string());
    let MembersListing { page, invitations } = listing;
    let list = ListMembersRequest {
        limit: Some(LIMIT),
        page_token: page,
        ..ListMembersRequest::default()
    };
    let found = state.send(caller, list).await?;
    let (members, next) = (found.members, token(found.next_page_token));
    let list = ListInvitationsRequest {
        limit: Some(LIMIT),
        page_token: invitations,
        ..ListInvitationsRequest::default()
    };
    let found = state.send(caller, list).await?;
    let (invitations, next_invitations) = (found.invitations, token(found.next_page_token));
    let role = member.membership.role;
    let members = members.into_iter().map(|member| MemberRow {
        since: time::wire_time(member.since.as_option()),
        last_sign_in_at: time::wire_time(member.last_sign_in_at.as_option()),
        is_self: member.user_id == own,
        member,
    });
    let invitations = invitations.into_iter().map(|invitation| InvitationRow {
        expires_at: time::wire_time(invitation.expires_at.as_option()),
        invitation,
    });
    // Only owners make owners.
    let roles = Role::ALL.iter().copied().filter(|it| *it != Role::Owner || role == Role::Owner);
    Ok(MembersPage {
        frame: Frame::of_member(member, Section::Settings, "Members", request),
        tab: Tab::Members,
        members: members.collect(),
        invitations: invitations.collect(),
        email: input.email,
        role: input.role,
        roles: roles.collect(),
        may_edit: role.includes(Role::Admin),
        next,
        next_invitations,
    })
}
