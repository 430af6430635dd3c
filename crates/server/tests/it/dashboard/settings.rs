//! The settings of a workspace: keys, members and the audit log.

use rules::{Role, limits};
use testkit::browser::{Browser, View};
use testkit::mail::MailServer;
use testkit::person::{PASSWORD, Person};
use testkit::server::{Caller, TestServer};
use tokio::process::Command;

use super::account::{assert_audited, with_mail};

/// Returns the text between two others.
pub(super) fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("no `{start}` in {text}")).1;
    rest.split_once(end).unwrap().0
}

/// Invites a person, who creates an account and returns signed in.
pub(super) async fn join(server: &TestServer, owner: &Person, email: &str, role: Role) -> Person {
    let fields = [("email", email), ("role", role.as_str())];
    let invited = owner.post("/w/acme/settings/invitations", &fields).await;
    assert_eq!(invited.status, 200, "{invited}");
    let text = invited.text();
    let token = between(&text, "/invite/", "<").to_owned();
    let person = Person::new(server);
    assert_eq!(person.get(&format!("/invite/{token}")).await.status, 200);
    let fields = [("name", email), ("email", email), ("password", PASSWORD)];
    let joined = person.post(&format!("/invite/{token}/account"), &fields).await;
    assert_eq!(joined.location().as_deref(), Some("/w/acme"), "{joined}");
    assert_eq!(Person::new(server).get(&format!("/invite/{token}")).await.status, 410);
    person
}

// issue 18, tests: "issued key accepted by `/v1/whoami`"
#[tokio::test]
async fn issued_key_works_until_revoked() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("name", "ci"), ("scope", "read"), ("days", "30")];
    let page = ada.post("/w/acme/settings/keys", &fields).await;
    let text = page.text();
    let key = between(&text, "id=\"the-key\">", "<").to_owned();
    let program = Caller::at(server.address(), Some(key.clone()));
    assert_eq!(program.get("/v1/whoami").await.status, 200);
    let list = ada.get("/w/acme/settings/keys").await.text();
    assert!(list.contains("ci") && !list.contains(&key), "{list}");
    let id = between(&list, "/w/acme/settings/keys/", "/revoke").to_owned();
    let revoked = ada.post(&format!("/w/acme/settings/keys/{id}/revoke"), &[]).await;
    assert_eq!(revoked.status, 303, "{revoked}");
    assert_eq!(program.get("/v1/whoami").await.status, 401);
}

// issue 18, point 2: "list them (prefix, scope, last use and from where)"
#[tokio::test]
async fn list_of_keys_shows_scope_and_use() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("name", "ci"), ("scope", "read"), ("days", "0")];
    let page = ada.post("/w/acme/settings/keys", &fields).await.text();
    let key = between(&page, "id=\"the-key\">", "<").to_owned();
    let cells = async || {
        let list = ada.get("/w/acme/settings/keys").await.text();
        let row = between(&list, "<td data-label=\"Name\">ci</td>", "</tr>").to_owned();
        let cell = |label: &str| {
            between(&row, &format!("<td data-label=\"{label}\">"), "</td>").to_owned()
        };
        (cell("Begins with"), cell("Scope"), cell("Last used"))
    };
    let (begins, scope, used) = cells().await;
    let begins = between(&begins, ">", "<");
    assert!(key.starts_with(begins) && begins.len() < key.len() / 2, "{begins} of {key}");
    assert_eq!((&*scope, &*used), ("read", "<span>never</span>"));
    server.advance(std::time::Duration::from_mins(5));
    assert_eq!(Caller::at(server.address(), Some(key)).get("/v1/whoami").await.status, 200);
    server.running().app().auth.save_last_uses().await.unwrap();
    let (_, _, used) = cells().await;
    assert!(used.contains("2026-11-21T00:05:00Z"), "{used}");
    assert!(used.contains("from 127.0.0.1"), "{used}");
}

// issue 18, bad input: "Show each field's message beside it and keep the input"
#[tokio::test]
async fn refused_key_keeps_scope_and_expiry() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("name", ""), ("scope", "read"), ("days", "30")];
    let page = ada.post("/w/acme/settings/keys", &fields).await.text();
    for chosen in ["<option value=\"read\" selected>", "<option value=\"30\" selected>"] {
        assert!(page.contains(chosen), "{chosen}: {page}");
    }
    let fields = [("name", "ci"), ("scope", "admin"), ("days", "4294967295")];
    let refused = ada.post("/w/acme/settings/keys", &fields).await;
    assert_eq!(refused.status, 422, "{refused}");
    for part in ["value=\"ci\"", "id=\"scope-error\"", "id=\"days-error\""] {
        assert!(refused.text().contains(part), "{part}: {refused}");
    }
}

#[tokio::test]
async fn refused_name_and_address_stay_in_the_form() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let long = "x".repeat(300);
    let page = ada.post("/account/name", &[("name", &long)]).await;
    assert!(page.status == 422 && page.text().contains(&format!("value=\"{long}\"")), "{page}");
    let fields = [("email", "new@example.com"), ("password", "wrong password")];
    let page = ada.post("/account/email", &fields).await;
    assert_eq!(page.status, 422, "{page}");
    for part in ["value=\"new@example.com\"", "id=\"email-password-error\""] {
        assert!(page.text().contains(part), "{part}: {page}");
    }
    let fields = [("email", "no address"), ("role", "viewer")];
    let page = ada.post("/w/acme/settings/invitations", &fields).await.text();
    assert!(page.contains("value=\"no address\""), "{page}");
    assert!(page.contains("<option value=\"viewer\" selected>"), "{page}");
}

#[tokio::test]
async fn unnamed_key_is_refused_beside_its_field() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("name", " "), ("scope", "write"), ("days", "0")];
    let reply = ada.post("/w/acme/settings/keys", &fields).await;
    assert!(reply.status == 422 && reply.text().contains("id=\"name-error\""), "{reply}");
}

#[tokio::test]
async fn invited_person_has_the_role() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let viewer = join(&server, &ada, "vera@example.com", Role::Viewer).await;
    assert_eq!(viewer.get("/w/acme/settings/members").await.status, 200);
    let refused = viewer.get("/w/acme/monitors/new").await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("this needs the role editor"), "{refused}");
    let fields = [("email", "eve@example.com"), ("role", "owner")];
    assert_eq!(viewer.post("/w/acme/settings/invitations", &fields).await.status, 403);
}

// issue 18, point 1: "a workspace always keeps an owner"
#[tokio::test]
async fn last_owner_cannot_leave() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let list = ada.get("/w/acme/settings/members").await.text();
    let own = between(&list, "/w/acme/settings/members/", "/role").to_owned();
    let reply = ada.post(&format!("/w/acme/settings/members/{own}/remove"), &[]).await;
    assert_eq!(reply.status, 400, "{reply}");
    assert_eq!(ada.get("/w/acme/settings").await.status, 200);
}

#[tokio::test]
async fn audit_log_names_people_and_their_address() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("url", "https://example.com"), ("periodicity", "1m")];
    assert_eq!(ada.post("/w/acme/monitors/new", &fields).await.status, 303);
    let page = ada.get("/w/acme/settings/audit").await.text();
    assert!(page.contains("monitor.create") && page.contains("127.0.0.1"), "{page}");
    let export = ada.get("/w/acme/settings/audit/export?format=csv").await;
    assert_eq!(export.headers["content-type"], "text/csv; charset=utf-8");
    let text = export.text();
    let line = text.lines().find(|line| line.contains("monitor.create")).unwrap();
    assert!(line.contains("Ada") && line.contains("127.0.0.1"), "{line}");
}

#[tokio::test]
async fn workspace_is_renamed_created_and_deleted_later() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let renamed = ada.post("/w/acme/settings", &[("name", "Acme Corp"), ("slug", "corp")]).await;
    assert_eq!(renamed.location().as_deref(), Some("/w/corp/settings"));
    assert_eq!(ada.get("/w/acme/settings").await.status, 404);
    let created = ada.post("/workspaces/new", &[("name", "Corp")]).await;
    assert_eq!(created.location().as_deref(), Some("/w/corp-2"));
    let wrong = ada.post("/w/corp-2/settings/delete", &[("confirm", "corp")]).await;
    assert_eq!(wrong.status, 422);
    assert!(!ada.get("/w/corp-2/settings").await.text().contains("will be deleted"));
    ada.post("/w/corp-2/settings/delete", &[("confirm", "corp-2")]).await;
    let page = ada.get("/w/corp-2/settings").await.text();
    assert!(page.contains("This workspace will be deleted"), "{page}");
    ada.post("/w/corp-2/settings/restore", &[]).await;
    let page = ada.get("/w/corp-2/settings").await.text();
    assert!(!page.contains("This workspace will be deleted"), "{page}");
}

#[tokio::test]
async fn stranger_finds_no_workspace() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let viewer = join(&server, &ada, "vera@example.com", Role::Viewer).await;
    assert_eq!(viewer.get("/w/other/settings").await.status, 404);
    assert_eq!(viewer.get("/w/nobody/settings").await.status, 404);
}

// issue 18, point 1: "Invitations by email or link"
#[tokio::test]
async fn invitation_by_email_has_a_working_link() {
    let (server, mail) = with_mail().await;
    let ada = Person::set_up(&server).await;
    let fields = [("email", "bob@example.com"), ("role", "editor")];
    let invited = ada.post("/w/acme/settings/invitations", &fields).await.text();
    assert!(invited.contains("bob@example.com"), "{invited}");
    let sent = mail.takes(1).await;
    assert_eq!(
        (&*sent[0].to, &*sent[0].subject),
        (&["bob@example.com".to_owned()][..], "Ada invites you to Acme on Aloft")
    );
    let link = sent[0].text.lines().find(|line| line.starts_with("https://")).unwrap();
    assert!(sent[0].html.contains(&format!("href=\"{link}\"")), "{}", sent[0].html);
    let path = link.strip_prefix("https://aloft.example").unwrap();
    let bob = Person::new(&server);
    let page = bob.get(path).await;
    assert!(page.status == 200 && page.text().contains("bob@example.com"), "{page}");
    let fields = [("name", "Bob"), ("email", "bob@example.com"), ("password", PASSWORD)];
    let joined = bob.post(&format!("{path}/account"), &fields).await;
    assert_eq!(joined.location().as_deref(), Some("/w/acme"), "{joined}");
    assert_eq!(bob.get("/w/acme/monitors/new").await.status, 200, "an editor");
}

// issue 18, point 2: "Show plan, limits and usage."
#[tokio::test]
async fn settings_show_the_usage_of_the_plan() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let used = async |label: &str| {
        let page = ada.get("/w/acme/settings").await.text();
        let row = between(&page, &format!("<td data-label=\"Limit\">{label}</td>"), "</tr>");
        (
            between(row, "data-label=\"Used\">", "<").to_owned(),
            between(row, "data-label=\"Allowed\">", "<").to_owned(),
        )
    };
    let figures = |used: &str, allowed: &str| (used.to_owned(), allowed.to_owned());
    assert_eq!(used("Monitors").await, figures("0", "no limit"));
    let monitor = [("url", "https://example.com"), ("periodicity", "1m")];
    assert_eq!(ada.post("/w/acme/monitors/new", &monitor).await.status, 303);
    assert_eq!(ada.post("/w/acme/pages/new", &[("title", "Status")]).await.status, 303);
    assert_eq!(used("Monitors").await, figures("1", "no limit"));
    assert_eq!(used("Status pages").await, figures("1", "no limit"));
    assert_eq!(used("Shortest interval").await.0, "1m");
}

// issue 18, point 2: "Show and export the audit (who, what, before and after, when, from where)"
#[tokio::test]
async fn audit_log_shows_values_before_and_after() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let renamed = [("name", "Acme Corp"), ("slug", "acme")];
    assert_eq!(ada.post("/w/acme/settings", &renamed).await.status, 303);
    let page = ada.get("/w/acme/settings/audit").await.text();
    let change = between(&page, "<dt>name</dt>", "</div>");
    let expected = "<dd><del>&#34;Acme&#34;</del> <ins>&#34;Acme Corp&#34;</ins></dd>";
    assert_eq!(change, expected, "{page}");
    let lines = ada.get("/w/acme/settings/audit/export?format=jsonl").await.text();
    let line = lines.lines().find(|it| it.contains("Acme Corp")).unwrap();
    assert!(line.contains("Acme\\\"") && line.contains("127.0.0.1"), "{line}");
}

// issue 18, point 2: "shown once with a copy button and ready-to-paste curl, Terraform and TypeScript
// lines"
#[tokio::test]
async fn copied_lines_of_a_new_key_work() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let origin = format!("http://{}", server.address());
    let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
    let browser = Browser::start().await;
    let tab = browser.open(&origin, View::DESKTOP, Some(&cookie)).await;
    tab.visit("/w/acme/settings/keys").await;
    tab.fill("#name", "ci").await;
    tab.click("main form button.primary").await;
    tab.until("document.querySelector('#the-key')").await;
    // Reading the clipboard needs a permission that no visitor gives.
    tab.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }").await;
    let mut copied = Vec::new();
    for part in ["the-key", "with-curl", "with-terraform", "with-typescript"] {
        tab.click(&format!("[data-copy={part}]")).await;
        tab.until(&format!("document.querySelector('[data-copy={part}]').dataset.done")).await;
        copied.push(tab.text("window.copied").await);
    }
    let [key, curl, terraform, typescript] = &copied[..] else { panic!("{copied:?}") };
    let ran = Command::new("sh").args(["-c", curl]).output().await.unwrap();
    let answer = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && answer.contains("\"actor\""), "{curl}: {answer}");
    assert!(terraform.contains(&format!("export SERVICE_API_URL={origin}/rpc\n")), "{terraform}");
    assert!(terraform.contains(&format!("export SERVICE_API_TOKEN={key}\n")), "{terraform}");
    let created =
        format!("createServiceClient({{ baseUrl: \"{origin}/rpc\", apiKey: \"{key}\" }})");
    assert!(typescript.contains(&created), "{typescript}");
    assert_eq!(tab.errors().await, [""; 0]);
}

// A mail server that took longer than the page lost the link of an invitation.
#[tokio::test]
async fn silent_mail_server_does_not_lose_the_link() {
    let mail = MailServer::start().await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let server = TestServer::start_with(|settings| {
        mail.set_up(settings);
        let server = settings.mail.as_mut().unwrap();
        server.port = port;
        settings.public_url = Some("https://aloft.example".to_owned());
    })
    .await;
    let ada = Person::set_up(&server).await;
    let fields = [("email", "bob@example.com"), ("role", "editor")];
    let invited = ada.post("/w/acme/settings/invitations", &fields).await;
    assert_eq!(invited.status, 200, "{invited}");
    let text = invited.text();
    assert!(text.contains("An email is on its way to bob@example.com"), "{text}");
    let token = between(&text, "https://aloft.example/invite/", "<");
    assert_eq!(Person::new(&server).get(&format!("/invite/{token}")).await.status, 200);
}

// issue 18, bad input: "Show each field's message beside it and keep the input"
#[tokio::test]
async fn wrong_confirmation_of_a_deletion_stays() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let wrong = ada.post("/w/acme/settings/delete", &[("confirm", "acne")]).await;
    let text = wrong.text();
    assert_eq!(wrong.status, 422, "{text}");
    assert!(text.contains("value=\"acne\"") && text.contains("id=\"confirm-error\""), "{text}");
}

#[tokio::test]
async fn ended_session_is_in_the_audit_log() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let other = Person::sign_in(&server, "ada@example.com").await;
    let account = ada.get("/account").await.text();
    let end = between(&account, "action=\"/account/sessions/", "/end\"");
    ada.post(&format!("/account/sessions/{end}/end"), &[]).await;
    assert_audited(&server, &["user.session_end:"]).await;
    let mut opened = Vec::new();
    for person in [&ada, &other] {
        opened.push(person.get("/account").await.status.as_u16());
    }
    assert!(opened.contains(&303), "{opened:?}");
}

#[tokio::test]
async fn person_invites_few_people_an_hour() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let invite = async |number: u32| {
        let email = format!("p{number}@example.com");
        let fields = [("email", &*email), ("role", "viewer")];
        ada.post("/w/acme/settings/invitations", &fields).await
    };
    for number in 0..limits::INVITATION_CREATIONS {
        assert_eq!(invite(number).await.status, 200, "{number}");
    }
    let refused = invite(99).await;
    assert_eq!(refused.status, 422, "{refused}");
    let text = refused.text();
    assert!(text.contains("more than 20 people in an hour") && text.contains("p99@"), "{text}");
    for round in 1..=2 {
        server.advance(limits::INVITATION_CREATIONS_IN);
        for number in 0..limits::INVITATION_CREATIONS {
            invite(100 * round + number).await;
        }
    }
    server.advance(limits::INVITATION_CREATIONS_IN);
    let refused = invite(98).await;
    assert_eq!(refused.status, 422, "{refused}");
    assert!(refused.text().contains("50 invitations are open"), "{refused}");
}
