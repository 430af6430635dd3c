//! Members: the rights to change roles, and the owner that every workspace keeps.

use rules::{Role, Secret};
use store::{
    Actor, AuditContext, InvitationHash, MemberRole, NewInvitation, Page, StoreError, WorkspaceEdit,
};

use crate::harness::{Home, a_workspace, at, for_each_engine, instant, key_id, workspace_id};
use crate::invitations::{an_invitation, invite};
use crate::users::{a_full_one, a_user, by_user, user_id};

pub(crate) fn by(user: u64) -> AuditContext {
    by_user(user, 20)
}

pub(crate) const fn by_key(key: u64) -> AuditContext {
    AuditContext::new(Actor::Key(key_id(key)), instant(20))
}

/// Adds a new user as a member of the first workspace. The first user must exist.
pub(crate) async fn add(home: &Home, number: u64, role: Role) {
    let hash = InvitationHash::new(&format!("of user {number}"));
    let new = NewInvitation { role, email: None, ..an_invitation(home, number + 100) };
    home.store.invitations().create(new, hash, at(15)).await.unwrap();
    let user = a_user(number, &format!("user{number}@example.com"));
    home.store.invitations().accept_with_new_user(hash, user, by_user(number, 16)).await.unwrap();
}

async fn change(
    home: &Home,
    user: u64,
    role: Role,
    change: AuditContext,
) -> Result<(), StoreError> {
    let new = MemberRole { workspace: home.workspace, user: user_id(user), role };
    home.store.members().change_role(new, change).await
}

async fn role(home: &Home, user: u64) -> Option<Role> {
    home.store.members().role(home.workspace, user_id(user)).await.unwrap()
}

async fn newest_action(home: &Home) -> String {
    let entry = home.store.audit().newest(home.workspace, 1).await.unwrap().remove(0);
    format!("{} · {} · {} · {}", entry.actor, entry.action, entry.resource_id, entry.detail)
}

#[tokio::test]
async fn members_are_listed_with_role_and_sign_in() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        add(home, 2, Role::Viewer).await;
        let members = home.store.members();
        let page = Page { limit: 10, offset: 0, after: None };
        let listed = members.list(home.workspace, page).await.unwrap();
        assert_eq!(listed.total, 2);
        let rows: Vec<_> = listed
            .rows
            .iter()
            .map(|it| (it.user.email.as_str(), it.role, it.since, it.last_sign_in_at))
            .collect();
        let owner = ("Jane@example.com", Role::Owner, instant(10), Some(instant(10)));
        assert_eq!(rows, [("user2@example.com", Role::Viewer, instant(16), None), owner]);
        let after = Page { after: Some(user_id(2)), ..page };
        assert_eq!(members.list(home.workspace, after).await.unwrap().rows, listed.rows[1..]);
        assert_eq!(members.get(home.workspace, user_id(2)).await.unwrap(), listed.rows[0]);
        let unknown = members.get(home.workspace, user_id(3)).await;
        assert!(matches!(unknown, Err(StoreError::NotFound { what: "member", .. })));
    })
    .await;
}

#[tokio::test]
async fn last_owner_can_neither_leave_nor_step_down() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        add(home, 2, Role::Admin).await;
        let members = home.store.members();
        for by in [by(1), at(20)] {
            assert!(matches!(change(home, 1, Role::Admin, by).await, Err(StoreError::LastOwner)));
            let left = members.remove(home.workspace, user_id(1), by).await;
            assert!(matches!(left, Err(StoreError::LastOwner)));
        }
        assert_eq!(role(home, 1).await, Some(Role::Owner));
        change(home, 2, Role::Owner, by(1)).await.unwrap();
        assert_eq!(
            newest_action(home).await,
            "usr_0000000000001 · member.update · usr_0000000000002 · admin to owner"
        );
        members.remove(home.workspace, user_id(1), by(1)).await.unwrap();
        assert_eq!(role(home, 1).await, None);
        assert_eq!(
            newest_action(home).await,
            "usr_0000000000001 · member.delete · usr_0000000000001 · owner"
        );
    })
    .await;
}

#[tokio::test]
async fn owners_leaving_together_keep_one() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        add(home, 2, Role::Owner).await;
        let members = home.store.members();
        let (first, second) = tokio::join!(
            members.remove(home.workspace, user_id(1), by(1)),
            members.remove(home.workspace, user_id(2), by(2)),
        );
        assert_eq!(u8::from(first.is_ok()) + u8::from(second.is_ok()), 1);
        assert_eq!(members.list(home.workspace, Page::all()).await.unwrap().total, 1);
    })
    .await;
}

#[tokio::test]
async fn lower_role_cannot_change_members() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        for (number, role) in [(2, Role::Admin), (3, Role::Editor), (4, Role::Viewer)] {
            add(home, number, role).await;
        }
        add(home, 5, Role::Owner).await;
        let needs = |needed: Role, result: Result<(), StoreError>| {
            assert!(
                matches!(&result, Err(StoreError::RoleRequired { role }) if *role == needed),
                "{result:?}"
            );
        };
        for actor in [by(3), by(4), by(9), by_key(1)] {
            needs(Role::Admin, change(home, 4, Role::Editor, actor).await);
            let removed = home.store.members().remove(home.workspace, user_id(2), actor).await;
            needs(Role::Admin, removed);
        }
        needs(Role::Owner, change(home, 4, Role::Owner, by(2)).await);
        needs(Role::Owner, change(home, 5, Role::Admin, by(2)).await);
        needs(Role::Owner, home.store.members().remove(home.workspace, user_id(5), by(2)).await);
        change(home, 4, Role::Editor, by(2)).await.unwrap();
        assert_eq!(role(home, 4).await, Some(Role::Editor));
        // The new role counts at once: an owner who became an editor may change nothing.
        change(home, 5, Role::Editor, by(1)).await.unwrap();
        needs(Role::Admin, change(home, 4, Role::Viewer, by(5)).await);
        home.store.members().remove(home.workspace, user_id(4), by(4)).await.unwrap();
        assert_eq!(role(home, 4).await, None, "everybody may leave");
    })
    .await;
}

#[tokio::test]
async fn owner_of_other_workspace_has_no_role() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        add(home, 2, Role::Viewer).await;
        home.store.workspaces().create_owned(a_workspace(2), user_id(2), by(2)).await.unwrap();
        let theirs = workspace_id(2);
        assert_eq!(home.store.members().role(theirs, user_id(2)).await.unwrap(), Some(Role::Owner));
        assert_eq!(home.store.members().role(theirs, user_id(1)).await.unwrap(), None);
        let removed = home.store.members().remove(home.workspace, user_id(1), by(2)).await;
        assert!(matches!(removed, Err(StoreError::RoleRequired { role: Role::Owner })));
        let unknown = home.store.members().remove(theirs, user_id(1), by(2)).await;
        assert!(matches!(unknown, Err(StoreError::NotFound { what: "member", .. })));
        home.store.workspaces().edit(theirs, WorkspaceEdit::Delete, at(30)).await.unwrap();
        assert_eq!(home.store.members().role(theirs, user_id(2)).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn lowered_or_removed_member_loses_sent_invitations() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        add(home, 2, Role::Admin).await;
        add(home, 3, Role::Admin).await;
        let (first, second) = (invite(home, 1, by(2)).await, invite(home, 2, by(3)).await);
        let kept = invite(home, 3, by(1)).await;
        change(home, 2, Role::Viewer, by(1)).await.unwrap();
        home.store.members().remove(home.workspace, user_id(3), by(1)).await.unwrap();
        let find = async |hash| home.store.invitations().find(hash, instant(21)).await.unwrap();
        assert_eq!(find(first).await, None);
        assert_eq!(find(second).await, None);
        assert!(find(kept).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn new_sign_in_is_the_last_one() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let users = home.store.users();
        users.set_password(user_id(1), Secret::new("x".to_owned()), by(1)).await.unwrap();
        let member = home.store.members().get(home.workspace, user_id(1)).await.unwrap();
        assert_eq!(member.last_sign_in_at, Some(instant(10)), "also without a session");
    })
    .await;
}
