//! Channels of a kind that the server has no settings for: the server stores them with a warning.
//! Their deliveries are dead letters until a replay.

use domain::notify::WhatsappTemplate;
use insta::assert_snapshot;
use rules::notification::Provider;
use rules::{ProviderType, Scope};
use serde_json::json;
use server::boot;
use store::{Delivery, DeliveryState};
use testkit::server::{Caller, NOTIFICATIONS, START, TestServer};
use web::context::Context;

use super::fixture::{AlertFixture, Vendors, a_mailbox, deliveries};
use crate::pipeline::PERIOD;

// design: §4, channels whose server side is not configured. Their deliveries are dead letters
// until it is.
#[tokio::test]
async fn configured_server_replays_undelivered_alerts() {
    let vendors = Vendors::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = TestServer::start_with(|settings| settings.data.clone_from(&data)).await;
    let mut settings = server.settings().clone();
    let fixture = AlertFixture::on(server).await;
    let kinds = [ProviderType::Telegram, ProviderType::Sms];
    let mut providers: Vec<Provider> =
        kinds.iter().map(|kind| vendors.receiver(*kind).provider()).collect();
    providers.push(a_mailbox());
    let mut channels = Vec::new();
    for provider in &providers {
        channels.push(fixture.channel(provider, &[fixture.monitor]).await);
    }
    fixture.breaks().await;
    let is_dead = |all: &[Delivery]| all.iter().any(|it| it.state == DeliveryState::Dead);
    let mut shown = Vec::new();
    for channel in &channels {
        let dead = fixture.deliveries(*channel, is_dead).await;
        assert_eq!(dead.len(), 1);
        shown.push(format!("{}: {}", dead[0].kind, dead[0].attempts[0].response));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    telegram: channels of the kind `telegram` cannot send on this server: set `ALOFT_TELEGRAM_TOKEN`
    sms: channels of the kind `sms` cannot send on this server: set `ALOFT_TWILIO_ACCOUNT`
    email: channels of the kind `email` cannot send on this server: set `ALOFT_SMTP_URL`
    "#);
    let AlertFixture { watched, target, caller, .. } = fixture;
    watched.server.stop().await;

    vendors.set_up(&mut settings);
    let (ctx, _clock) = Context::manual(START + 2 * PERIOD);
    let running = boot::start(&settings, ctx).await.unwrap();
    let caller = Caller::at(running.address(), caller.key().map(str::to_owned));
    for channel in &channels {
        let request = json!({ "notificationId": channel.to_string(), "state": "dead" });
        let listed = caller.call(NOTIFICATIONS, "ListDeliveries", request).await.json();
        let request = json!({ "id": listed["deliveries"][0]["id"] });
        let reply = caller.call(NOTIFICATIONS, "ReplayDelivery", request).await;
        assert_eq!(reply.status, 200, "{reply}");
        let accepted = |all: &[Delivery]| all[0].state == DeliveryState::Accepted;
        deliveries(&running.app().store, *channel, accepted).await;
    }
    for kind in kinds {
        assert_eq!(vendors.receiver(kind).takes(1).await.len(), 1);
    }
    assert!(vendors.mail.takes(1).await[0].subject.starts_with("Down: "));
    running.stop().await.unwrap();
    drop(target);
}

// issue 16, point 21: "Add settings for template, language and parameters; warn without them."
#[tokio::test]
async fn whatsapp_without_template_is_stored_with_warning() {
    let vendors = Vendors::start().await;
    let mut shown = Vec::new();
    let template = WhatsappTemplate { id: "HX1".to_owned(), parameters: Vec::new() };
    for template in [None, Some(template)] {
        let server = TestServer::start_with(|settings| {
            vendors.set_up(settings);
            let telephone = settings.vendors.twilio.as_mut().unwrap();
            telephone.whatsapp_template.clone_from(&template);
        })
        .await;
        let channel = json!({
            "providerType": "whatsapp", "whatsapp": { "phoneNumber": "+4915112345678" },
        });
        let caller = server.caller(Scope::Write);
        let request = json!({ "notification": channel });
        let created = caller.call(NOTIFICATIONS, "CreateNotification", request).await.json();
        shown.push(format!("{}: {}", template.is_some(), created["warnings"]));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    false: [{"field":"notification.provider_type","message":"WhatsApp delivers this channel's messages only within 24 hours after the recipient wrote to the sender: ask the operator to set `whatsapp_template`"}]
    true: []
    "#);
}
