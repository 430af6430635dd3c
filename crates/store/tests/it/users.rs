//! Users, their roles and their sessions.

use rules::{Role, Secret, SessionId, UserId};
use store::{
    Actor, AuditContext, AuditFilter, NewUser, Page, SessionHash, StoreError, UserSession,
};

mod sign_in;

use crate::harness::{Engine, Home, a_workspace, at, for_each_engine, instant, workspace_id};

const EMAIL: &str = "Jane@example.com";

pub(crate) fn user_id(number: u64) -> UserId {
    UserId::from_bits(number)
}

pub(crate) fn a_user(number: u64, email: &str) -> NewUser {
    NewUser {
        id: user_id(number),
        email: email.to_owned(),
        name: "Jane".to_owned(),
        password_hash: Secret::new("$argon2id$first".to_owned()),
    }
}

fn a_session(number: u64, user: UserId) -> UserSession {
    UserSession {
        id: SessionId::from_bits(number),
        user,
        created_at: instant(10),
        last_used_at: instant(10),
        expires_at: instant(1_000),
        address: "192.0.2.1".to_owned(),
        user_agent: "a browser".to_owned(),
    }
}

fn hash(number: u64) -> SessionHash {
    SessionHash::new(&number.to_be_bytes())
}

pub(crate) fn by_user(number: u64, millis: i64) -> AuditContext {
    AuditContext::new(Actor::User(user_id(number)), instant(millis))
}

/// Creates a user with a membership and a session, for tests of whole databases.
pub(crate) async fn a_full_one(home: &Home) {
    home.store.users().create_first(a_user(1, EMAIL), a_workspace(9), at(10)).await.unwrap();
    // The first sign-in through the provider ends the sessions of an unverified user.
    sign_in::a_full_one(home, user_id(1)).await;
    home.store.sessions().create(a_session(1, user_id(1)), hash(1)).await.unwrap();
}

async fn roles(home: &Home, user: u64) -> Vec<(String, Role)> {
    let memberships = home.store.users().memberships(user_id(user)).await.unwrap();
    memberships.into_iter().map(|it| (it.workspace.slug, it.role)).collect()
}

#[tokio::test]
async fn first_user_owns_every_workspace() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        assert!(!home.store.users().exist().await.unwrap());
        let first = a_user(1, EMAIL);
        home.store.users().create_first(first, a_workspace(9), by_user(1, 10)).await.unwrap();
        let owned = [1, 2].map(|number| (a_workspace(number).slug, Role::Owner));
        assert_eq!(roles(home, 1).await, owned);
        let second = a_user(2, "other@example.com");
        let refused = home.store.users().create_first(second, a_workspace(9), at(11)).await;
        assert!(matches!(refused, Err(StoreError::AlreadyExists { what: "first user", .. })));
        let audit = home.store.audit();
        let page = Page { limit: 1, offset: 0, after: None };
        let newest = audit.list(home.workspace, &AuditFilter::default(), page).await.unwrap();
        let entry = &newest.rows[0];
        assert_eq!((entry.action.as_str(), entry.detail.as_str()), ("member.create", "owner"));
        assert_eq!(entry.actor_name.as_deref(), Some("Jane"));
    })
    .await;
}

#[tokio::test]
async fn first_user_of_empty_server_gets_a_workspace() {
    for engine in Engine::ALL {
        let home = Home::at(*engine, tempfile::tempdir().unwrap(), engine.database()).await;
        let first = a_user(1, EMAIL);
        home.store.users().create_first(first, a_workspace(7), at(10)).await.unwrap();
        assert_eq!(roles(&home, 1).await, [(a_workspace(7).slug, Role::Owner)]);
    }
}

#[tokio::test]
async fn user_is_found_by_address_in_any_case() {
    for_each_engine(async |home| {
        home.store.users().create_first(a_user(1, EMAIL), a_workspace(9), at(10)).await.unwrap();
        let users = home.store.users();
        let (found, password) = users.find_for_sign_in("jane@EXAMPLE.com").await.unwrap().unwrap();
        assert_eq!((found.email.as_str(), found.id), (EMAIL, user_id(1)));
        assert_eq!(password.expose(), "$argon2id$first");
        assert_eq!(users.find_for_sign_in("joe@example.com").await.unwrap(), None);
        assert_eq!(users.list().await.unwrap(), [found]);
    })
    .await;
}

#[tokio::test]
async fn address_of_a_user_is_encrypted_on_disk() {
    let home = Home::new(Engine::Sqlite).await;
    a_full_one(&home).await;
    home.store.clone().close().await.unwrap();
    let file = std::fs::read(home.folder.path().join("aloft.db")).unwrap();
    let contains = |text: &[u8]| file.windows(text.len()).any(|it| it.eq_ignore_ascii_case(text));
    assert!(contains(b"a browser") && !contains(EMAIL.as_bytes()));
}

#[tokio::test]
async fn recent_sessions_are_valid_and_ordered_by_use() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let sessions = home.store.sessions();
        for number in 2..=4 {
            let session = UserSession {
                last_used_at: instant(10 * i64::try_from(number).unwrap()),
                expires_at: instant(if number == 3 { 500 } else { 1_000 }),
                ..a_session(number, user_id(1))
            };
            sessions.create(session, hash(number)).await.unwrap();
        }
        let recent = sessions.recent(instant(500), 10).await.unwrap();
        assert_eq!(recent, [hash(1), hash(2), hash(4)]);
        assert_eq!(sessions.recent(instant(500), 1).await.unwrap(), [hash(4)]);
    })
    .await;
}

#[tokio::test]
async fn session_is_found_until_it_expires_or_ends() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let sessions = home.store.sessions();
        let second = a_session(2, user_id(1));
        sessions.create(second.clone(), hash(2)).await.unwrap();
        let (found, user) = sessions.find(hash(2), instant(999)).await.unwrap().unwrap();
        assert_eq!((&found, user.email.as_str()), (&second, EMAIL));
        assert_eq!(sessions.find(hash(2), instant(1_000)).await.unwrap(), None);
        assert_eq!(sessions.find(hash(3), instant(11)).await.unwrap(), None);
        sessions.record_use(second.id, instant(50)).await.unwrap();
        let listed = sessions.list(user_id(1), instant(60)).await.unwrap();
        let used: Vec<_> = listed.iter().map(|it| (it.id, it.last_used_at)).collect();
        assert_eq!(
            used,
            [(SessionId::from_bits(2), instant(50)), (SessionId::from_bits(1), instant(10))]
        );
        sessions.end(user_id(2), second.id, by_user(2, 20)).await.unwrap();
        assert!(sessions.find(hash(2), instant(60)).await.unwrap().is_some(), "of another user");
        sessions.end(user_id(1), second.id, by_user(1, 20)).await.unwrap();
        assert_eq!(sessions.find(hash(2), instant(60)).await.unwrap(), None);
        sessions.delete_expired(instant(1_000)).await.unwrap();
        assert_eq!(sessions.list(user_id(1), instant(0)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn new_password_ends_all_sessions() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let users = home.store.users();
        let second = Secret::new("$argon2id$second".to_owned());
        users.set_password(user_id(1), second.clone(), by_user(1, 20)).await.unwrap();
        assert_eq!(users.get(user_id(1)).await.unwrap().1, second);
        assert_eq!(home.store.sessions().find(hash(1), instant(20)).await.unwrap(), None);
        let newest = &home.store.audit().newest(home.workspace, 1).await.unwrap()[0];
        assert_eq!(newest.action, "user.password");
        let unknown = users.set_password(user_id(5), second, at(21)).await;
        assert!(matches!(unknown, Err(StoreError::NotFound { what: "user", .. })));
    })
    .await;
}

#[tokio::test]
async fn deleted_workspace_has_no_members() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let workspaces = home.store.workspaces();
        workspaces.edit(workspace_id(1), store::WorkspaceEdit::Delete, at(30)).await.unwrap();
        assert_eq!(roles(home, 1).await, []);
    })
    .await;
}
