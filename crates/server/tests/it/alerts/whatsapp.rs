//! The requests sent to WhatsApp, which uses a sender of its own.

use insta::assert_snapshot;
use rules::ProviderType;
use rules::notification::{Phone, Provider};
use serde_json::json;
use testkit::server::TestServer;

use super::fixture::{AlertFixture, Vendors, format_message, stable};

#[tokio::test]
async fn whatsapp_has_the_number_of_its_own() {
    let vendors = Vendors::start().await;
    let server = TestServer::start_with(|settings| {
        vendors.set_up(settings);
        settings.vendors.twilio = Some(vendors.telephone(ProviderType::Whatsapp));
    })
    .await;
    let fixture = AlertFixture::on(server).await;
    fixture.create_page(json!({ "title": "Acme", "slug": "acme" })).await;
    let phone = Provider::Whatsapp(Phone { phone_number: "+4915112345678".to_owned() });
    fixture.channel(&phone, &[fixture.monitor]).await;
    fixture.breaks().await;
    let whatsapp = vendors.receiver(ProviderType::Whatsapp);
    let opened = format_message(&whatsapp.takes(1).await[0]);
    fixture.recovers().await;
    let over = format_message(&whatsapp.takes(2).await[1]);
    let names = [(fixture.target.address().to_string(), "api.example")];
    assert_snapshot!(stable(&format!("{opened}\n\n{over}"), &names), @"
    POST /2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjpmZWRjYmE5ODc2NTQzMjEwZmVkY2JhOTg3NjU0MzIxMA==
    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🔴 Down: API & <shop>
    status is 503, expected 2xx
    Target: GET http://api.example/
    Since: 2026-11-21 00:00:30 UTC
    Workspace: Acme
    • this server: failing, status 503, N ms: status is 503, expected 2xx
    https://aloft.example.com/status/acme/incident/inc_1

    POST /2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjpmZWRjYmE5ODc2NTQzMjEwZmVkY2JhOTg3NjU0MzIxMA==
    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🟢 Recovered after 30 s: API & <shop>
    the check succeeds
    Target: GET http://api.example/
    Started: 2026-11-21 00:00:30 UTC
    Duration: 30 s
    Workspace: Acme
    • this server: ok, N ms
    https://aloft.example.com/status/acme/incident/inc_1
    ");
}
