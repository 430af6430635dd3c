//! Passkeys in a real browser with a virtual authenticator, and the screens of an account.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::browser::{Browser, Tab, View};
use testkit::person::Person;
use testkit::server::TestServer;

use super::account::assert_audited;
use super::settings::between;
use crate::screen::{fits, take_picture};

/// Starts a server at `localhost`: browsers allow no passkeys for IP addresses.
async fn at_localhost() -> (TestServer, String) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let origin = format!("http://localhost:{}", free.port());
    let public_url = Some(origin.clone());
    let server = TestServer::start_with(|settings| {
        settings.listen = free;
        settings.public_url = public_url;
    });
    (server.await, origin)
}

async fn path(tab: &Tab) -> String {
    tab.text("location.pathname").await
}

/// Signs out. The button is in a menu.
async fn sign_out(tab: &Tab) {
    tab.evaluate("document.querySelector(\"form[action='/logout']\").submit()").await;
    tab.until("location.pathname === '/login'").await;
}

#[tokio::test]
async fn passkey_signs_in_without_a_password() {
    let (server, origin) = at_localhost().await;
    let ada = Person::set_up(&server).await;
    let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
    let browser = Browser::start().await;
    let tab = browser.open(&origin, View::DESKTOP, Some(&cookie)).await;
    tab.add_authenticator().await;
    tab.visit("/account").await;
    tab.until("!document.querySelector('form[data-passkey]').hidden").await;
    tab.fill("#passkey-name", "Laptop").await;
    tab.click("form[data-passkey] button").await;
    let wrong = "!document.querySelector('form[data-passkey] .wrong')?.hidden";
    tab.until(&format!("document.querySelector('.rename input') || {wrong}")).await;
    let shown = "(document.querySelector('.rename input')?.value) ?? document.body.innerText";
    assert_eq!(tab.text(shown).await, "Laptop");
    assert_audited(&server, &["user.passkey_add: Laptop"]).await;
    // The authenticator excludes a credential that it has.
    tab.fill("#passkey-name", "Again").await;
    tab.click("form[data-passkey] button").await;
    tab.until("!document.querySelector('form[data-passkey] .wrong').hidden").await;

    sign_out(&tab).await;
    tab.visit("/login?next=/account").await;
    tab.until("!document.querySelector('form[data-passkey]').hidden").await;
    tab.click("form[data-passkey] button").await;
    tab.until("location.pathname === '/account'").await;
    assert_audited(&server, &["user.sign_in: with a passkey"]).await;

    tab.click(".row-actions summary").await;
    tab.click(".row-actions form[action$='/remove'] button").await;
    tab.until("!document.querySelector('.rename')").await;
    assert_audited(&server, &["user.passkey_remove: Laptop"]).await;
    sign_out(&tab).await;
    tab.visit("/login").await;
    tab.until("!document.querySelector('form[data-passkey]').hidden").await;
    tab.click("form[data-passkey] button").await;
    tab.until("!document.querySelector('form[data-passkey] .wrong').hidden").await;
    let wrong = tab.text("document.querySelector('form[data-passkey] .wrong').textContent").await;
    assert_eq!(
        (wrong.as_str(), path(&tab).await.as_str()),
        ("No account has this passkey.", "/login")
    );
}

#[tokio::test]
async fn forged_and_replayed_answers_are_refused() {
    let (server, _) = at_localhost().await;
    let ada = Person::set_up(&server).await;
    let anybody = Person::new(&server);
    let options = anybody.post("/login/passkey/options", &[]).await;
    assert_eq!(
        options.json()["rpId"].as_str().or(options.json()["publicKey"]["rpId"].as_str()),
        Some("localhost")
    );
    for credential in ["", "{}", &json!({ "id": "AAAA", "rawId": "AAAA" }).to_string()] {
        let reply = anybody.post("/login/passkey", &[("credential", credential)]).await;
        assert_eq!(reply.status, 400, "{credential}: {reply}");
        let reply = ada.post("/account/passkeys", &[("credential", credential)]).await;
        assert_eq!(reply.status, 422, "{credential}: {reply}");
    }
    assert_eq!(anybody.cookie("aloft_session"), None);
}

#[tokio::test]
async fn screens_have_no_violations() {
    let (server, origin) = at_localhost().await;
    let ada = Person::set_up(&server).await;
    let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
    let browser = Browser::start().await;
    let screens = [
        ("account", "/account"),
        ("authenticator", "/account/authenticator"),
        ("login", "/login"),
        ("forgot", "/forgot"),
    ];
    for view in [View::DESKTOP, View::PHONE.dark(), View::DESKTOP.without_scripts()] {
        let tab = browser.open(&origin, view, Some(&cookie)).await;
        for (name, path) in screens {
            assert_eq!(tab.visit(path).await, 200, "{path}");
            fits(&tab, name).await;
            if name == "authenticator" {
                let size =
                    tab.evaluate("document.querySelector('.qr').getBoundingClientRect().height");
                assert!(size.await.as_f64() >= Some(200.0), "phones can scan the QR code");
            }
            if view.scripts {
                assert_eq!(tab.audit().await, [""; 0], "{name}, {view:?}");
            }
            take_picture(&tab, name, view).await;
        }
        assert_eq!(tab.errors().await, [""; 0]);
        tab.close().await;
    }
}

/// Lets the browser answer a challenge, and returns the answer.
const ANSWER: &str = "(async () => {
    const asked = await fetch('/login/passkey/options', { method: 'POST', body: new URLSearchParams() });
    const options = await asked.json();
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.publicKey ?? options);
    return JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());
})()";

// issue 18, bad input: "Refuse and audit […] replayed and forged passkey answers"
#[tokio::test]
async fn real_answer_counts_once_and_unchanged() {
    let (server, origin) = at_localhost().await;
    let ada = Person::set_up(&server).await;
    let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
    let browser = Browser::start().await;
    let tab = browser.open(&origin, View::DESKTOP, Some(&cookie)).await;
    tab.add_authenticator().await;
    tab.visit("/account").await;
    tab.until("!document.querySelector('form[data-passkey]').hidden").await;
    tab.fill("#passkey-name", "Laptop").await;
    tab.click("form[data-passkey] button").await;
    tab.until("document.querySelector('.rename input')").await;

    let post = async |credential: &str| {
        let person = Person::new(&server);
        let reply = person.post("/login/passkey", &[("credential", credential)]).await;
        assert_eq!(reply.status == 200, person.cookie("aloft_session").is_some(), "{reply}");
        reply.status
    };
    let answer = tab.text(ANSWER).await;
    assert_eq!(post(&answer).await, 200);
    assert_eq!(post(&answer).await, 401, "it was used");
    assert_audited(&server, &["user.passkey_refuse:", "user.sign_in: with a passkey"]).await;
    let mut forged: Value = serde_json::from_str(&tab.text(ANSWER).await).unwrap();
    let signature = forged["response"]["signature"].as_str().unwrap();
    let middle = signature.len() / 2;
    let other = if &signature[middle..=middle] == "A" { "B" } else { "A" };
    let changed = format!("{}{other}{}", &signature[..middle], &signature[middle + 1..]);
    forged["response"]["signature"] = json!(changed);
    assert_eq!(post(&forged.to_string()).await, 401);
    assert_audited(&server, &["user.passkey_refuse:", "user.passkey_refuse:"]).await;
    // A stolen session does not remove passkeys.
    server.advance(Duration::from_mins(16));
    let page = ada.get("/account").await.text();
    let remove = between(&page, "action=\"/account/passkeys/", "/remove\"");
    let remove = format!("/account/passkeys/{}", remove.rsplit('/').next().unwrap());
    let refused = ada.post(&format!("{remove}/remove"), &[]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"passkey-error\""), "{refused}");
    let refused = ada.post(&format!("{remove}/name"), &[("name", " ")]).await;
    assert!(refused.status == 422 && refused.text().contains("1 to 64 characters"), "{refused}");
    assert_eq!(ada.post(&format!("{remove}/name"), &[("name", "Phone")]).await.status, 303);
    assert_audited(&server, &["user.passkey_rename: Phone"]).await;
}
