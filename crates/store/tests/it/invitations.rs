//! Invitations: single use, for a time, for one address or for anybody with the link.

use rules::{InvitationId, Role};
use store::{AuditContext, InvitationHash, NewInvitation, Page, StoreError, WorkspaceEdit};

use crate::harness::{Engine, Home, at, for_each_engine, instant};
use crate::members::{add, by, by_key};
use crate::users::{a_user, by_user, user_id};

const EMAIL: &str = "Joe@example.com";

pub(crate) fn an_invitation(home: &Home, number: u64) -> NewInvitation {
    NewInvitation {
        id: InvitationId::from_bits(number),
        workspace: home.workspace,
        email: None,
        role: Role::Editor,
        expires_at: instant(1_000),
    }
}

/// Stores an invitation for anybody and returns the hash of its token.
pub(crate) async fn invite(home: &Home, number: u64, change: AuditContext) -> InvitationHash {
    let hash = InvitationHash::new(&format!("token {number}"));
    home.store.invitations().create(an_invitation(home, number), hash, change).await.unwrap();
    hash
}

/// Stores an invitation for [`EMAIL`].
async fn invite_by_email(home: &Home, number: u64) -> InvitationHash {
    let hash = InvitationHash::new(&format!("token {number}"));
    let new = NewInvitation { email: Some(EMAIL.to_owned()), ..an_invitation(home, number) };
    home.store.invitations().create(new, hash, by(1)).await.unwrap();
    hash
}

/// Creates an invitation, for tests of whole databases.
pub(crate) async fn a_full_one(home: &Home) {
    invite_by_email(home, 1).await;
}

async fn count(home: &Home) -> u32 {
    let invitations = home.store.invitations();
    invitations.list(home.workspace, Page::all(), instant(20)).await.unwrap().total
}

fn is_not_found<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::NotFound { what: "invitation", .. }))
}

#[tokio::test]
async fn invitation_makes_a_new_user_member_once() {
    for_each_engine(async |home| {
        users_first(home).await;
        let hash = invite_by_email(home, 1).await;
        let invitations = home.store.invitations();
        let (found, workspace) = invitations.find(hash, instant(20)).await.unwrap().unwrap();
        assert_eq!((found.email.as_deref(), found.role), (Some(EMAIL), Role::Editor));
        assert_eq!(found.invited_by, "usr_0000000000001");
        assert_eq!(found.invited_by_name.as_deref(), Some("Jane"));
        assert_eq!((found.created_at, workspace.id), (instant(20), home.workspace));
        let joe = a_user(2, "joe@EXAMPLE.com");
        let accepted = invitations.accept_with_new_user(hash, joe, by_user(2, 30)).await;
        assert_eq!(accepted.unwrap(), home.workspace);
        let member = home.store.members().get(home.workspace, user_id(2)).await.unwrap();
        assert_eq!((member.role, member.since), (Role::Editor, instant(30)));
        let other = a_user(3, "joe2@example.com");
        let again = invitations.accept_with_new_user(hash, other, by_user(3, 31)).await;
        assert!(is_not_found(&again));
        assert_eq!(home.store.users().list().await.unwrap().len(), 2, "no account without one");
        let entries = home.store.audit().newest(home.workspace, 3).await.unwrap();
        let actions: Vec<_> = entries.iter().map(|it| it.action.as_str()).collect();
        assert_eq!(actions, ["invitation.accept", "member.create", "invitation.create"]);
    })
    .await;
}

async fn users_first(home: &Home) {
    crate::users::a_full_one(home).await;
}

#[tokio::test]
async fn user_with_other_address_cannot_accept() {
    for_each_engine(async |home| {
        users_first(home).await;
        let hash = invite_by_email(home, 1).await;
        let invitations = home.store.invitations();
        let other = invitations.accept_with_new_user(hash, a_user(2, "x@example.com"), by(2)).await;
        assert!(matches!(other, Err(StoreError::InvitationForOther)));
        let other = invitations.accept(hash, user_id(1), by(1)).await;
        assert!(matches!(other, Err(StoreError::InvitationForOther)));
        assert_eq!(count(home).await, 1, "a wrong user does not use it up");
    })
    .await;
}

#[tokio::test]
async fn member_keeps_role_and_invitation() {
    for_each_engine(async |home| {
        users_first(home).await;
        let hash = invite(home, 1, by(1)).await;
        let again = home.store.invitations().accept(hash, user_id(1), by(1)).await;
        assert!(matches!(again, Err(StoreError::AlreadyExists { what: "member", .. })));
        assert_eq!(
            home.store.members().role(home.workspace, user_id(1)).await.unwrap(),
            Some(Role::Owner)
        );
        assert_eq!(count(home).await, 1);
        let own =
            NewInvitation { email: Some("jane@example.com".to_owned()), ..an_invitation(home, 2) };
        let invited = home.store.invitations().create(own, InvitationHash::new("2"), by(1)).await;
        assert!(matches!(invited, Err(StoreError::AlreadyExists { what: "member", .. })));
    })
    .await;
}

#[tokio::test]
async fn existing_user_accepts_into_second_workspace() {
    for_each_engine(async |home| {
        users_first(home).await;
        add(home, 2, Role::Viewer).await;
        home.store.members().remove(home.workspace, user_id(2), by(2)).await.unwrap();
        let hash = invite(home, 1, by(1)).await;
        let accepted = home.store.invitations().accept(hash, user_id(2), by(2)).await.unwrap();
        let role = home.store.members().role(accepted, user_id(2)).await.unwrap();
        assert_eq!(role, Some(Role::Editor));
        assert_eq!(count(home).await, 0);
    })
    .await;
}

#[tokio::test]
async fn expired_or_revoked_invitation_is_not_found() {
    for_each_engine(async |home| {
        users_first(home).await;
        let (expired, revoked) = (invite(home, 1, by(1)).await, invite(home, 2, by(1)).await);
        let invitations = home.store.invitations();
        invitations.revoke(home.workspace, InvitationId::from_bits(2), by(1)).await.unwrap();
        let again = invitations.revoke(home.workspace, InvitationId::from_bits(2), by(1)).await;
        assert!(is_not_found(&again));
        for (hash, at) in [(expired, 1_000), (revoked, 30)] {
            assert_eq!(invitations.find(hash, instant(at)).await.unwrap(), None);
            let user = a_user(2, "joe@example.com");
            let accepted = invitations.accept_with_new_user(hash, user, by_user(2, at)).await;
            assert!(is_not_found(&accepted), "at {at}");
        }
        assert!(invitations.find(expired, instant(999)).await.unwrap().is_some());
        invitations.delete_expired(instant(999)).await.unwrap();
        assert_eq!(count(home).await, 1);
        invitations.delete_expired(instant(1_000)).await.unwrap();
        assert_eq!(home.count("invitations").await, 0);
    })
    .await;
}

#[tokio::test]
async fn new_invitation_replaces_that_of_the_address() {
    for_each_engine(async |home| {
        users_first(home).await;
        let (first, second) = (invite_by_email(home, 1).await, invite_by_email(home, 2).await);
        let find = async |hash| home.store.invitations().find(hash, instant(21)).await.unwrap();
        assert_eq!(find(first).await, None);
        assert!(find(second).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn only_owner_invites_owners() {
    for_each_engine(async |home| {
        users_first(home).await;
        add(home, 2, Role::Admin).await;
        add(home, 3, Role::Editor).await;
        let create = async |number: u64, role, actor| {
            let new = NewInvitation { role, ..an_invitation(home, number) };
            let hash = InvitationHash::new(&number.to_string());
            home.store.invitations().create(new, hash, actor).await
        };
        for (role, actor, needed) in [
            (Role::Owner, by(2), Role::Owner),
            (Role::Viewer, by(3), Role::Admin),
            (Role::Viewer, by_key(1), Role::Admin),
            (Role::Owner, by_key(1), Role::Owner),
        ] {
            let refused = create(1, role, actor).await;
            assert!(
                matches!(&refused, Err(StoreError::RoleRequired { role }) if *role == needed),
                "{role} by {actor:?}: {refused:?}"
            );
        }
        create(1, Role::Admin, by(2)).await.unwrap();
        create(2, Role::Owner, by(1)).await.unwrap();
        let (invitations, id) = (home.store.invitations(), InvitationId::from_bits(1));
        let revoked = invitations.revoke(home.workspace, id, by(3)).await;
        assert!(matches!(revoked, Err(StoreError::RoleRequired { role: Role::Admin })));
    })
    .await;
}

#[tokio::test]
async fn leaving_workspace_accepts_no_members() {
    for_each_engine(async |home| {
        users_first(home).await;
        let hash = invite(home, 1, by(1)).await;
        let edit = WorkspaceEdit::ScheduleDeletion(instant(900));
        home.store.workspaces().edit(home.workspace, edit, by(1)).await.unwrap();
        assert_eq!(home.store.invitations().find(hash, instant(21)).await.unwrap(), None);
        let user = a_user(2, "joe@example.com");
        let accepted = home.store.invitations().accept_with_new_user(hash, user, at(22)).await;
        assert!(is_not_found(&accepted));
    })
    .await;
}

#[tokio::test]
async fn address_of_an_invitation_is_encrypted_on_disk() {
    let home = Home::new(Engine::Sqlite).await;
    users_first(&home).await;
    a_full_one(&home).await;
    home.store.clone().close().await.unwrap();
    let file = std::fs::read(home.folder.path().join("aloft.db")).unwrap();
    let contains = |text: &[u8]| file.windows(text.len()).any(|it| it.eq_ignore_ascii_case(text));
    assert!(contains(b"a browser") && !contains(EMAIL.as_bytes()));
    assert!(!contains(b"token 1"), "only the hash of the token");
}
