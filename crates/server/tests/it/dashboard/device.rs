//! Logins of programs: the codes, the screen of the person, and the key.

use std::time::Duration;

use http::Method;
use rules::Role;
use serde_json::Value;
use testkit::person::Person;
use testkit::server::{Caller, Reply, TestServer};

use super::account::assert_audited;
use super::settings::join;

const FORM: &str = "application/x-www-form-urlencoded";
const APPROVAL: [(&str, &str); 4] =
    [("workspace", "acme"), ("scope", "read"), ("days", "30"), ("decision", "approve")];

/// A program that began a login.
pub(super) struct Program {
    caller: Caller,
    begun: Value,
}

impl Program {
    /// Begins a login on `ada's laptop`.
    pub(super) async fn begin(server: &TestServer) -> Self {
        let caller = server.stranger();
        let reply = post(&caller, "/login/device/code", "device_name=ada%27s+laptop").await;
        assert_eq!(reply.status, 200, "{reply}");
        assert_eq!(reply.headers["cache-control"], "no-store");
        Self { caller, begun: reply.json() }
    }

    pub(super) fn user_code(&self) -> &str {
        self.begun["user_code"].as_str().unwrap()
    }

    /// Asks for the key, after the time between two questions.
    async fn ask(&self, server: &TestServer) -> Reply {
        server.advance(Duration::from_secs(self.begun["interval"].as_u64().unwrap()));
        let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code";
        let code = self.begun["device_code"].as_str().unwrap();
        let question = format!("grant_type={grant}&device_code={code}");
        post(&self.caller, "/login/device/token", &question).await
    }

    /// Returns the error of the next question.
    async fn refusal(&self, server: &TestServer) -> String {
        let reply = self.ask(server).await;
        assert_eq!(reply.status, 400, "{reply}");
        reply.json()["error"].as_str().unwrap().to_owned()
    }
}

async fn post(caller: &Caller, path: &str, form: &str) -> Reply {
    caller.send(Method::POST, path, FORM, form.to_owned()).await
}

async fn decide(person: &Person, code: &str, fields: &[(&str, &str)]) -> Reply {
    person.post("/login/device", &[&[("code", code)], fields].concat()).await
}

// issue 20, point 2: "`aloft login` (browser code flow through the dashboard, or a key)"
#[tokio::test]
async fn approved_program_gets_one_key() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let program = Program::begin(&server).await;
    assert_eq!(program.refusal(&server).await, "authorization_pending");
    let link = program.begun["verification_uri_complete"].as_str().unwrap();
    let path = link.split_once("/login/").unwrap().1;
    let screen = ada.get(&format!("/login/{path}")).await.text();
    let shown = screen.contains(program.user_code()) && screen.contains("ada&#39;s laptop");
    assert!(shown, "{screen}");
    let lower = program.user_code().to_lowercase().replace('-', "");
    let approved = decide(&ada, &lower, &APPROVAL).await;
    assert!(approved.status == 200 && approved.text().contains("Approved"), "{approved}");
    let token = program.ask(&server).await.json();
    assert_eq!((&token["token_type"], &token["scope"]), (&"x-service-key".into(), &"read".into()));
    let caller = Caller::at(server.address(), token["access_token"].as_str().map(str::to_owned));
    let who = caller.get("/v1/whoami").await.json();
    assert_eq!((&who["slug"], &who["actor"]["scopes"][0]), (&"acme".into(), &"read".into()));
    assert_audited(&server, &["key.create: "]).await;
    let keys = ada.get("/w/acme/settings/keys").await.text();
    assert!(keys.contains("aloft login on ada&#39;s laptop") && keys.contains("by Ada"), "{keys}");
    // An answer may be lost, so the same key is handed out for a minute.
    assert_eq!(program.ask(&server).await.json()["access_token"], token["access_token"]);
    server.advance(Duration::from_mins(1));
    assert_eq!(program.refusal(&server).await, "expired_token");
    let again = decide(&ada, program.user_code(), &APPROVAL).await;
    assert_eq!(again.status, 422, "{again}");
}

#[tokio::test]
async fn refused_program_gets_no_key() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let program = Program::begin(&server).await;
    let invalid = [("workspace", "nowhere"), ("scope", "read"), ("days", "30")];
    for (field, value, status) in
        [("decision", "approve", 422), ("decision", "", 422), ("decision", "refuse", 200)]
    {
        let fields = [&invalid[..], &[(field, value)]].concat();
        let reply = decide(&ada, program.user_code(), &fields).await;
        assert_eq!(reply.status, status, "{value}: {reply}");
    }
    assert_eq!(program.refusal(&server).await, "access_denied");
    assert_eq!(program.refusal(&server).await, "expired_token");
}

#[tokio::test]
async fn key_needs_an_admin_until_it_is_created() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let vera = join(&server, &ada, "vera@example.com", Role::Editor).await;
    let program = Program::begin(&server).await;
    let screen = vera.get(&format!("/login/device?code={}", program.user_code())).await;
    assert!(screen.text().contains("may create keys in no workspace"), "{screen}");
    assert_eq!(decide(&vera, program.user_code(), &APPROVAL).await.status, 422);
    // Otto approves as an admin, and loses the role before the program asks.
    let otto = join(&server, &ada, "otto@example.com", Role::Admin).await;
    assert_eq!(decide(&otto, program.user_code(), &APPROVAL).await.status, 200);
    let store = &server.running().app().store;
    let (user, _) = store.users().find_for_sign_in("otto@example.com").await.unwrap().unwrap();
    let role = format!("/w/acme/settings/members/{}/role", user.id);
    assert_eq!(ada.post(&role, &[("role", "viewer")]).await.status, 303);
    assert_eq!(program.refusal(&server).await, "access_denied");
}

#[tokio::test]
async fn other_sites_and_malformed_requests_are_refused() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    for path in ["/login/device/code", "/login/device/token", "/login/device"] {
        assert_eq!(ada.post_from_another_site(path, &[]).await.status, 403, "{path}");
    }
    let program = Program::begin(&server).await;
    let caller = &program.caller;
    for (form, error) in [
        ("grant_type=password", "unsupported_grant_type"),
        ("", "unsupported_grant_type"),
        ("grant_type=a&grant_type=b", "invalid_request"),
        ("grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=x", "expired_token"),
    ] {
        let reply = post(caller, "/login/device/token", form).await;
        assert_eq!((reply.status.as_u16(), &reply.json()["error"]), (400, &error.into()), "{form}");
    }
    let json = caller.send(Method::POST, "/login/device/code", "application/json", "{}").await;
    assert_eq!((json.status.as_u16(), &json.json()["error"]), (400, &"invalid_request".into()));
    let signed_out = Person::new(&server).get("/login/device?code=BCDF-GHJK").await;
    let login = signed_out.location().unwrap();
    assert_eq!(login, "/login?next=%2Flogin%2Fdevice%3Fcode%3DBCDF%2DGHJK");
}

#[tokio::test]
async fn beginnings_and_guesses_are_limited() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let program = Program::begin(&server).await;
    let mut begun = 1;
    let refused = loop {
        let reply = post(&program.caller, "/login/device/code", "").await;
        if reply.status != 200 {
            break reply;
        }
        begun += 1;
    };
    assert_eq!((refused.status.as_u16(), begun), (429, 20));
    assert!(refused.headers.contains_key("retry-after"), "{refused}");
    for _ in 0..10 {
        let guess = ada.get("/login/device?code=BCDF-GHJK").await;
        assert_eq!(guess.status, 422, "{guess}");
    }
    let code = format!("/login/device?code={}", program.user_code());
    assert_eq!(ada.get(&code).await.status, 429, "the limit also hides the right code");
}
