//! Single sign-on with a real `OpenID` provider.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dashboard::{GroupRole, SingleSignOnSettings};
use rules::{Role, Secret};
use serde_json::json;
use server::config::Settings;
use sha2::{Digest as _, Sha256};
use store::Database;
use testkit::flaky_proxy::FlakyProxy;
use testkit::openid::{CLIENT, CLIENT_SECRET, OTHER_CLIENT, OpenIdProvider};
use testkit::person::Person;
use testkit::postgres;
use testkit::server::{Reply, TestServer};
use url::Url;

use super::account::{assert_audited, audit};

/// Public address of the server. The provider must know it before the server starts, and the tests
/// follow its answers themselves.
const ORIGIN: &str = "https://aloft.example";

/// Server with a provider.
struct Site {
    server: TestServer,
    provider: OpenIdProvider,
}

impl Site {
    async fn open() -> Self {
        Self::open_with(|_| {}).await
    }

    async fn open_with(change: impl FnOnce(&mut Settings) + Send) -> Self {
        let callback = format!("{ORIGIN}/login/provider/callback");
        let provider = OpenIdProvider::start(&callback).await;
        let role = |group: &str, role| GroupRole {
            workspace: "acme".to_owned(),
            group: group.to_owned(),
            role,
        };
        let settings = SingleSignOnSettings {
            issuer: provider.issuer(),
            client_id: CLIENT.to_owned(),
            client_secret: Secret::new(CLIENT_SECRET.to_owned()),
            name: "Example".to_owned(),
            email_domains: vec!["example.com".to_owned()],
            groups_claim: "groups".to_owned(),
            roles: vec![role("staff", Role::Viewer), role("platform", Role::Admin)],
        };
        let server = TestServer::start_now_with(|all| {
            all.public_url = Some(ORIGIN.to_owned());
            all.single_sign_on = Some(settings);
            change(all);
        });
        Self { server: server.await, provider }
    }

    /// Signs in with these claims, and returns the answer to the way back.
    async fn sign_in(&self, person: &Person, claims: serde_json::Value) -> Reply {
        self.provider.sign_in_as(claims).await;
        let url = person.get("/login/provider?next=/account").await.location().unwrap();
        let back = self.provider.authorize(&url).await;
        person.get(&path(&back)).await
    }
}

fn path(url: &Url) -> String {
    url[url::Position::BeforePath..].to_owned()
}

/// Returns a URL with another value of a parameter.
fn with(url: &str, name: &str, value: &str) -> String {
    let mut url = Url::parse(url).unwrap();
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let changed = pairs.into_iter().map(|(known, old)| {
        let new = if known == name { value.to_owned() } else { old };
        (known, new)
    });
    let pairs: Vec<_> = changed.collect();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url.to_string()
}

fn bob(groups: &[&str]) -> serde_json::Value {
    json!({
        "sub": "bob-1", "email": "bob@example.com", "email_verified": true, "name": "Bob",
        "groups": groups,
    })
}

#[tokio::test]
async fn groups_decide_the_role_at_each_sign_in() {
    let site = Site::open().await;
    let ada = Person::set_up(&site.server).await;
    let person = Person::new(&site.server);
    let login = person.get("/login").await.text();
    assert!(login.contains("Sign in with Example"), "{login}");
    let reply = site.sign_in(&person, bob(&["staff"])).await;
    assert_eq!(reply.location().as_deref(), Some("/account"), "{reply}");
    let account = person.get("/account").await.text();
    assert!(account.contains("bob@example.com") && account.contains("have no password"));
    assert_eq!(person.get("/w/acme/monitors/new").await.status, 403, "a viewer changes nothing");
    assert_audited(&site.server, &["user.sign_in: with single sign-on", "user.identity_link:"])
        .await;
    site.sign_in(&person, bob(&["staff", "platform"])).await;
    assert_eq!(person.get("/w/acme/monitors/new").await.status, 200);
    site.sign_in(&person, bob(&[])).await;
    assert_eq!(person.get("/w/acme/monitors/new").await.status, 404, "the membership ended");
    let log = audit(&site.server).await;
    for expected in ["member.create: viewer", "member.update: admin", "member.delete: "] {
        assert!(log.iter().any(|it| it == expected), "{expected} is not in {log:#?}");
    }
    // A known address is linked, and the last owner stays one.
    let linked = Person::new(&site.server);
    let claims = json!({ "sub": "ada-1", "email": "ADA@example.com", "email_verified": true });
    assert_eq!(site.sign_in(&linked, claims).await.status, 303);
    assert!(linked.get("/account").await.text().contains("value=\"Ada\""));
    assert_eq!(linked.get("/w/acme/monitors/new").await.status, 200);
    let old = ada.get("/account").await;
    assert_eq!(old.status, 303, "nobody had verified the address: {old}");
}

#[tokio::test]
async fn unverified_and_foreign_addresses_are_refused() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    let person = Person::new(&site.server);
    for (email, verified, why) in [
        ("ada@example.com", false, "did not verify"),
        ("eve@evil.example", true, "may not sign in here"),
    ] {
        let claims = json!({ "sub": email, "email": email, "email_verified": verified });
        let reply = site.sign_in(&person, claims).await;
        assert!(reply.status == 403 && reply.text().contains(why), "{email}: {reply}");
        assert_audited(&site.server, &["single_sign_on.refuse:"]).await;
    }
    assert_eq!(person.cookie("aloft_session"), None);
}

// issue 18, bad input: "Refuse and audit […] a changed `state`, OIDC responses for another client"
#[tokio::test]
async fn changed_state_is_refused() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    site.provider.sign_in_as(bob(&["staff"])).await;
    let person = Person::new(&site.server);
    let url = person.get("/login/provider").await.location().unwrap();
    let back = site.provider.authorize(&url).await;
    let changed = Url::parse(&with(back.as_str(), "state", "changed")).unwrap();
    assert_eq!(person.get(&path(&changed)).await.status, 403);
    assert_audited(&site.server, &["single_sign_on.refuse: the state was changed"]).await;
    // Another browser did not ask.
    assert_eq!(Person::new(&site.server).get(&path(&back)).await.status, 403);
    assert_audited(&site.server, &["single_sign_on.refuse: no sign-in was begun"]).await;
    assert_eq!(person.get(&path(&back)).await.status, 303, "the answer itself is valid");
    assert_eq!(person.get(&path(&back)).await.status, 403, "and it is valid once");
}

#[tokio::test]
async fn wrong_nonce_is_refused() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    site.provider.sign_in_as(bob(&["staff"])).await;
    let person = Person::new(&site.server);
    let url = person.get("/login/provider").await.location().unwrap();
    let back = site.provider.authorize(&with(&url, "nonce", "of another sign-in")).await;
    assert_eq!(person.get(&path(&back)).await.status, 403);
    let newest = audit(&site.server).await.remove(0);
    assert!(newest.starts_with("single_sign_on.refuse: ") && newest.contains("nonce"), "{newest}");
    assert_eq!(person.cookie("aloft_session"), None);
}

// issue 18, point 1: "OIDC single sign-on (discovery, PKCE, nonce, …)"
#[tokio::test]
async fn code_of_another_verifier_is_refused() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    site.provider.sign_in_as(bob(&["staff"])).await;
    let person = Person::new(&site.server);
    let url = person.get("/login/provider").await.location().unwrap();
    let asked: HashMap<_, _> = Url::parse(&url).unwrap().query_pairs().into_owned().collect();
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(URL_SAFE_NO_PAD.decode(&asked["code_challenge"]).unwrap().len(), 32);
    assert!(!asked.contains_key("code_verifier"), "{url}");
    // The code belongs to a verifier that this server does not have.
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest("a verifier of somebody else"));
    let back = site.provider.authorize(&with(&url, "code_challenge", &challenge)).await;
    assert_eq!(person.get(&path(&back)).await.status, 403);
    let newest = audit(&site.server).await.remove(0);
    assert!(newest.starts_with("single_sign_on.refuse: "), "{newest}");
    assert!(newest.contains("invalid_grant"), "{newest}");
    assert_eq!(person.cookie("aloft_session"), None);
    let next = person.get("/login/provider").await.location().unwrap();
    let next: HashMap<_, _> = Url::parse(&next).unwrap().query_pairs().into_owned().collect();
    assert_ne!(
        next["code_challenge"], asked["code_challenge"],
        "each sign-in has its own verifier"
    );
}

#[tokio::test]
async fn token_of_another_client_is_refused() {
    const VERIFIER: &str = "a-verifier-of-the-other-client-with-43-letters-0";
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    site.provider.sign_in_as(bob(&["staff"])).await;
    let person = Person::new(&site.server);
    let url = person.get("/login/provider").await.location().unwrap();
    // The other client gets a token with the same nonce, signed by the same provider.
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let other = with(&with(&url, "client_id", OTHER_CLIENT), "code_challenge", &challenge);
    let back = site.provider.authorize(&other).await;
    let stolen = site.provider.token_of_other_client(&back, VERIFIER).await;
    site.provider.replace_next_token(&stolen).await;
    let back = site.provider.authorize(&url).await;
    assert_eq!(person.get(&path(&back)).await.status, 403);
    let newest = audit(&site.server).await.remove(0);
    assert!(
        newest.starts_with("single_sign_on.refuse: ") && newest.contains("audience"),
        "{newest}"
    );
    assert_eq!(person.cookie("aloft_session"), None);
}

#[tokio::test]
async fn late_answer_is_refused() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    site.provider.sign_in_as(bob(&["staff"])).await;
    let person = Person::new(&site.server);
    let url = person.get("/login/provider").await.location().unwrap();
    let back = site.provider.authorize(&url).await;
    site.server.advance(Duration::from_mins(10));
    assert_eq!(person.get(&path(&back)).await.status, 403);
    assert_audited(&site.server, &["single_sign_on.refuse: the sign-in has expired"]).await;
}

#[tokio::test]
async fn expired_token_is_refused() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    site.provider.sign_in_as(bob(&["staff"])).await;
    site.server.advance(Duration::from_hours(2));
    let person = Person::new(&site.server);
    let url = person.get("/login/provider").await.location().unwrap();
    let back = site.provider.authorize(&url).await;
    assert_eq!(person.get(&path(&back)).await.status, 403);
    let newest = audit(&site.server).await.remove(0);
    assert!(newest.starts_with("single_sign_on.refuse: ") && newest.contains("xpired"), "{newest}");
}

// A change of the provider's keys made every sign-in fail for five minutes.
#[tokio::test]
async fn new_key_of_the_provider_is_looked_up() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    assert_eq!(site.sign_in(&Person::new(&site.server), bob(&["staff"])).await.status, 303);
    site.server.advance(Duration::from_secs(10));
    site.provider.replace_keys().await;
    let reply = site.sign_in(&Person::new(&site.server), bob(&["staff"])).await;
    assert_eq!(reply.location().as_deref(), Some("/account"), "{reply}");
}

// Each sign-in used up two attempts, so the eleventh colleague behind an address got 429.
#[tokio::test]
async fn colleagues_behind_one_address_sign_in() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    for number in 0..25 {
        let reply = site.sign_in(&Person::new(&site.server), bob(&["staff"])).await;
        assert_eq!(reply.status, 303, "{number}: {reply}");
    }
}

// issue 18, bad input: "If the database hangs, show a page that says so within 3 s"
#[tokio::test]
async fn hanging_database_is_reported_after_the_provider() {
    let line = FlakyProxy::start(&postgres::database()).await;
    let address = line.address();
    let site = Site::open_with(|settings| {
        settings.database = Database::Postgres(Secret::new(address));
    })
    .await;
    Person::set_up(&site.server).await;
    site.provider.sign_in_as(bob(&["staff"])).await;
    let person = Person::new(&site.server);
    let url = person.get("/login/provider").await.location().unwrap();
    let back = site.provider.authorize(&url).await;
    line.silence();
    let reply = person.get(&path(&back)).await;
    line.restore();
    assert_eq!(reply.status, 503, "{reply}");
    assert!(reply.text().contains("The database does not answer"), "{reply}");
}

// Another site could use up the attempts of a visitor's network where browsers do not say that they load an image.
#[tokio::test]
async fn answers_without_a_sign_in_lock_nobody_out() {
    let site = Site::open().await;
    Person::set_up(&site.server).await;
    let stranger = Person::new(&site.server);
    for _ in 0..40 {
        let reply = stranger.get("/login/provider/callback?code=x&state=y").await;
        assert_eq!(reply.status, 403, "{reply}");
    }
    let reply = site.sign_in(&Person::new(&site.server), bob(&["staff"])).await;
    assert_eq!(reply.status, 303, "{reply}");
}
