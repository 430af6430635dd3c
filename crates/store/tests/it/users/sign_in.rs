//! Second factors, passkeys, reset links and identities of users.

use rules::{PasskeyId, Role, Secret, UserId};
use store::{
    AddedPasskey, AddressProof, AuditContext, AuditFilter, MappedRole, NewPasskey, NewSecondFactor,
    Page, Passkeys, ProviderAccount, ResetChoice, ResetLink, ResetLinkState, StoreError,
};

use super::{EMAIL, a_session, a_user, by_user, hash, roles, user_id};
use crate::harness::{Home, a_workspace, at, for_each_engine, instant};

/// Creates a row in each table of signing in.
pub(super) async fn a_full_one(home: &Home, user: UserId) {
    home.store.identities().sign_in(an_account("sub", EMAIL, None), |_| at(10)).await.unwrap();
    home.store.second_factors().enable(a_factor(user), at(10)).await.unwrap();
    home.store.passkeys().add(a_passkey(1, user), at(10)).await.unwrap();
    let link = ResetLink { hash: hash(9), user, expires_at: instant(1_000) };
    home.store.reset_links().create(link, at(10)).await.unwrap();
}

fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

fn a_factor(user: UserId) -> NewSecondFactor {
    let recovery_codes = vec![secret("first"), secret("second")];
    NewSecondFactor { user, secret: Secret::new(vec![7; 20]), step: 100, recovery_codes }
}

fn a_passkey(number: u64, user: UserId) -> NewPasskey {
    NewPasskey {
        id: PasskeyId::from_bits(number),
        user,
        credential_id: number.to_be_bytes().to_vec(),
        public_key: vec![1, 2],
        state: vec![3],
        name: format!("Passkey {number}"),
    }
}

fn an_account(subject: &str, email: &str, role: Option<Role>) -> ProviderAccount {
    ProviderAccount {
        issuer: "https://id.example.com".to_owned(),
        subject: subject.to_owned(),
        user: store::NewUser { password_hash: secret(""), ..a_user(7, email) },
        roles: vec![MappedRole { workspace: a_workspace(1).slug, role }],
    }
}

async fn a_home_user(home: &Home) -> UserId {
    home.store.users().create_first(a_user(1, EMAIL), a_workspace(9), at(1)).await.unwrap();
    user_id(1)
}

/// Returns the actions in the audit log, newest first.
async fn actions(home: &Home) -> Vec<String> {
    let page = Page { limit: 50, offset: 0, after: None };
    let listed = home.store.audit().list(home.workspace, &AuditFilter::default(), page).await;
    listed.unwrap().rows.into_iter().map(|entry| entry.action).collect()
}

#[tokio::test]
async fn code_of_used_step_is_refused_and_recorded() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let factors = home.store.second_factors();
        factors.enable(a_factor(user), by_user(1, 10)).await.unwrap();
        let again = factors.enable(a_factor(user), by_user(1, 10)).await;
        assert!(matches!(again, Err(StoreError::AlreadyExists { .. })), "{again:?}");
        for (step, accepted) in [(100, false), (99, false), (101, true), (101, false), (102, true)]
        {
            let used = factors.use_step(user, step, by_user(1, 20)).await.unwrap();
            assert_eq!(used, accepted, "step {step}");
        }
        let replays = actions(home).await;
        let replays = replays.iter().filter(|it| *it == "user.second_factor_replay").count();
        assert_eq!(replays, 3);
        let found = factors.find(user).await.unwrap().unwrap();
        assert_eq!((found.secret.expose().as_slice(), found.recovery_codes), (&[7; 20][..], 2));
    })
    .await;
}

#[tokio::test]
async fn recovery_code_works_once() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let factors = home.store.second_factors();
        factors.enable(a_factor(user), at(10)).await.unwrap();
        let used = async |code| {
            factors.use_recovery_code(user, secret(code), by_user(1, 20)).await.unwrap()
        };
        assert!(used("first").await && !used("first").await && !used("third").await);
        let codes = vec![secret("new")];
        factors.replace_recovery_codes(user, codes, by_user(1, 30)).await.unwrap();
        assert!(!used("second").await && used("new").await);
        factors.remove(user, by_user(1, 40)).await.unwrap();
        assert_eq!(factors.find(user).await.unwrap(), None);
        assert_eq!(actions(home).await[0], "user.second_factor_remove");
    })
    .await;
}

#[tokio::test]
async fn passkeys_belong_to_one_user() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let passkeys = home.store.passkeys();
        passkeys.add(a_passkey(1, user), by_user(1, 10)).await.unwrap();
        let taken = NewPasskey { id: PasskeyId::from_bits(2), ..a_passkey(1, user) };
        let taken = passkeys.add(taken, by_user(1, 10)).await;
        assert!(matches!(taken, Err(StoreError::AlreadyExists { .. })), "{taken:?}");
        let other = user_id(2);
        let first = PasskeyId::from_bits(1);
        assert!(passkeys.rename(other, first, "stolen".to_owned(), by_user(2, 20)).await.is_err());
        passkeys.remove(other, first, by_user(2, 20)).await.unwrap();
        passkeys.rename(user, first, "Laptop".to_owned(), by_user(1, 20)).await.unwrap();
        passkeys.record_use(first, vec![9], instant(30)).await.unwrap();
        let found = passkeys.find(&1_u64.to_be_bytes()).await.unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.state.as_slice()), ("Laptop", &[9][..]));
        assert_eq!(found.last_used_at, Some(instant(30)));
        passkeys.remove(user, first, by_user(1, 40)).await.unwrap();
        assert_eq!(passkeys.list(user).await.unwrap(), []);
        assert_eq!(actions(home).await[0], "user.passkey_remove");
    })
    .await;
}

#[tokio::test]
async fn number_of_passkeys_is_bounded() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        for number in 0..u64::from(Passkeys::MAX) {
            let added = home.store.passkeys().add(a_passkey(number, user), at(10)).await;
            assert_eq!(added.unwrap(), AddedPasskey::Stored);
        }
        let one_more = home.store.passkeys().add(a_passkey(99, user), at(10)).await;
        assert_eq!(one_more.unwrap(), AddedPasskey::LimitReached);
    })
    .await;
}

#[tokio::test]
async fn reset_link_works_once_and_ends_sessions() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        home.store.sessions().create(a_session(1, user), hash(1)).await.unwrap();
        let links = home.store.reset_links();
        for number in [8, 9] {
            let link = ResetLink { hash: hash(number), user, expires_at: instant(1_000) };
            links.create(link, at(10)).await.unwrap();
        }
        let change = |_| by_user(1, 20);
        let passkeys = home.store.passkeys();
        for number in [11, 12] {
            passkeys.add(a_passkey(number, user), at(10)).await.unwrap();
        }
        let redeem = async |number, now| {
            let removed_passkeys = vec![PasskeyId::from_bits(11), PasskeyId::from_bits(99)];
            let new = ResetChoice { password_hash: secret("$new"), removed_passkeys };
            links.redeem(hash(number), new, change, instant(now)).await.unwrap()
        };
        assert_eq!(redeem(7, 20).await, ResetLinkState::Unknown);
        assert_eq!(redeem(9, 1_000).await, ResetLinkState::Expired(user));
        assert_eq!(passkeys.list(user).await.unwrap().len(), 2);
        assert_eq!(links.find(hash(9), instant(999)).await.unwrap(), ResetLinkState::Valid(user));
        assert_eq!(redeem(9, 999).await, ResetLinkState::Valid(user));
        assert_eq!(redeem(9, 999).await, ResetLinkState::Used(user));
        assert_eq!(redeem(8, 999).await, ResetLinkState::Used(user), "one use ends all links");
        assert_eq!(home.store.users().get(user).await.unwrap().1.expose(), "$new");
        assert_eq!(home.store.sessions().find(hash(1), instant(20)).await.unwrap(), None);
        let left = passkeys.list(user).await.unwrap();
        assert_eq!((left.len(), left[0].id), (1, PasskeyId::from_bits(12)));
        assert_eq!(actions(home).await[0], "user.passkey_remove");
    })
    .await;
}

#[tokio::test]
async fn reset_of_the_operator_removes_passkeys() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let (users, passkeys) = (home.store.users(), home.store.passkeys());
        passkeys.add(a_passkey(1, user), at(10)).await.unwrap();
        let reset = async |keeps| users.reset(user, secret("$new"), keeps, at(20)).await.unwrap();
        assert_eq!((reset(true).await, passkeys.list(user).await.unwrap().len()), (0, 1));
        assert_eq!((reset(false).await, passkeys.list(user).await.unwrap().len()), (1, 0));
        assert_eq!(users.get(user).await.unwrap().1.expose(), "$new");
    })
    .await;
}

#[tokio::test]
async fn identity_links_by_address_and_maps_roles() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let sign_in = async |subject: &str, email: &str, role| {
            let change: fn(UserId) -> AuditContext = |_| at(20);
            home.store.identities().sign_in(an_account(subject, email, role), change).await.unwrap()
        };
        // The account of the address is linked, and its only owner stays one.
        let linked = sign_in("jane", "JANE@example.com", Some(Role::Viewer)).await;
        assert_eq!((linked.user, linked.is_new), (user, false));
        let slug = |it: &(String, Role)| (it.0 == a_workspace(1).slug).then_some(it.1);
        let role = async |number| roles(home, number).await.iter().find_map(slug);
        assert_eq!(sign_in("jane", "new@example.com", None).await.user, user, "subject counts");
        let new = sign_in("bob", "bob@example.com", Some(Role::Editor)).await;
        assert_eq!((new.user, new.is_new, role(7).await), (user_id(7), true, Some(Role::Editor)));
        sign_in("bob", "bob@example.com", Some(Role::Admin)).await;
        assert_eq!(role(7).await, Some(Role::Admin));
        sign_in("bob", "bob@example.com", None).await;
        assert_eq!(role(7).await, None);
    })
    .await;
}

#[tokio::test]
async fn address_of_another_user_is_taken() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let account = an_account("bob", "bob@example.com", None);
        let bob = home.store.identities().sign_in(account, |_| at(20)).await.unwrap().user;
        let users = home.store.users();
        let taken = users
            .set_email(
                (bob, a_session(1, bob).id),
                "JANE@Example.com".to_owned(),
                AddressProof::None,
                at(30),
            )
            .await;
        assert!(matches!(taken, Err(StoreError::AlreadyExists { .. })), "{taken:?}");
        users
            .set_email(
                (user, a_session(1, user).id),
                "new@example.com".to_owned(),
                AddressProof::Link,
                by_user(1, 30),
            )
            .await
            .unwrap();
        assert!(users.find_for_sign_in("NEW@example.com").await.unwrap().is_some());
        assert!(users.find_for_sign_in(EMAIL).await.unwrap().is_none());
        users.rename(user, "Jane Doe".to_owned()).await.unwrap();
        assert_eq!(users.get(user).await.unwrap().0.name, "Jane Doe");
    })
    .await;
}

#[tokio::test]
async fn other_sessions_end_together() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        for number in 1..=3 {
            home.store.sessions().create(a_session(number, user), hash(number)).await.unwrap();
        }
        let kept = a_session(2, user).id;
        home.store.sessions().end_others(user, kept, by_user(1, 20)).await.unwrap();
        let left = home.store.sessions().list(user, instant(20)).await.unwrap();
        assert_eq!(left.into_iter().map(|it| it.id).collect::<Vec<_>>(), [kept]);
    })
    .await;
}

// An invited person may enter any address. The owner of the mailbox must not share the account.
#[tokio::test]
async fn linking_an_unverified_account_removes_its_credentials() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let (store, change) = (&home.store, by_user(1, 10));
        store.passkeys().add(a_passkey(1, user), change).await.unwrap();
        store.second_factors().enable(a_factor(user), change).await.unwrap();
        store.sessions().create(a_session(1, user), hash(1)).await.unwrap();
        let link = ResetLink { hash: hash(9), user, expires_at: instant(1_000) };
        store.reset_links().create(link, change).await.unwrap();
        let account = an_account("jane", EMAIL, None);
        let linked = store.identities().sign_in(account, |_| at(20)).await.unwrap();
        assert_eq!(linked.user, user);
        assert_eq!(store.users().get(user).await.unwrap().1.expose(), "");
        assert_eq!(store.passkeys().list(user).await.unwrap(), []);
        assert!(store.second_factors().find(user).await.unwrap().is_none());
        assert_eq!(store.sessions().list(user, instant(20)).await.unwrap(), []);
        let state = store.reset_links().find(hash(9), instant(20)).await.unwrap();
        assert_eq!(state, ResetLinkState::Used(user));
        // From now on, the address is verified.
        store.passkeys().add(a_passkey(2, user), change).await.unwrap();
        let other = an_account("jane at work", EMAIL, None);
        store.identities().sign_in(other, |_| at(30)).await.unwrap();
        assert_eq!(store.passkeys().list(user).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn provider_creates_no_first_user() {
    for_each_engine(async |home| {
        let account = an_account("jane", EMAIL, None);
        let refused = home.store.identities().sign_in(account, |_| at(20)).await;
        assert!(matches!(refused, Err(StoreError::NotSetUp)), "{refused:?}");
        assert!(!home.store.users().exist().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn new_address_ends_links_and_other_sessions() {
    for_each_engine(async |home| {
        let user = a_home_user(home).await;
        let store = &home.store;
        for number in 1..=2 {
            let session = a_session(number, user);
            store.sessions().create(session, hash(number)).await.unwrap();
        }
        let link = ResetLink { hash: hash(9), user, expires_at: instant(1_000) };
        store.reset_links().create(link, by_user(1, 10)).await.unwrap();
        let kept = (user, a_session(1, user).id);
        let (to, change) = ("new@example.com".to_owned(), by_user(1, 20));
        store.users().set_email(kept, to, AddressProof::None, change).await.unwrap();
        let sessions = store.sessions().list(user, instant(20)).await.unwrap();
        assert_eq!(sessions.iter().map(|it| it.id).collect::<Vec<_>>(), [kept.1]);
        let state = store.reset_links().find(hash(9), instant(20)).await.unwrap();
        assert_eq!(state, ResetLinkState::Used(user));
    })
    .await;
}
