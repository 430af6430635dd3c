//! The first steps of a new workspace.

use rules::plan::Plans;
use testkit::person::Person;
use testkit::server::TestServer;

use super::settings::between;

// A refused monitor left its channel behind, and each try made another one.
#[tokio::test]
async fn refused_first_monitor_keeps_the_form() {
    let server = TestServer::start_with(|settings| {
        settings.plans = Plans::parse("free monitors=1").unwrap();
    })
    .await;
    let ada = Person::set_up(&server).await;
    let first = ada.post("/w/acme/start", &[("url", "https://example.com/")]).await;
    assert_eq!(first.status, 303, "{first}");
    let fields = [("url", "https://example.org/"), ("alerts", "https://example.com/hook")];
    for _ in 0..2 {
        let refused = ada.post("/w/acme/start", &fields).await;
        let text = refused.text();
        assert_eq!(refused.status, 422, "{text}");
        for part in ["allows 1 monitor", "value=\"https://example.com/hook\"", "id=\"url-error\""] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    // Each channel has the time of its last delivery.
    assert!(!ada.get("/w/acme/channels").await.text().contains("None yet"));
}

// A try after a failure in the middle made the channel and the monitor again.
#[tokio::test]
async fn repeated_first_steps_create_nothing_twice() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = ada.get("/w/acme/start").await.text();
    let form = between(&page, "name=\"form\" value=\"", "\"").to_owned();
    let alerts = "http://127.0.0.1:1/hook";
    let fields = [("url", "https://example.com/"), ("alerts", alerts), ("form", form.as_str())];
    for _ in 0..2 {
        let reply = ada.post("/w/acme/start", &fields).await;
        assert_eq!(reply.status, 303, "{reply}");
    }
    let monitors = ada.get("/w/acme/monitors").await.text();
    assert!(monitors.contains("of 1<"), "{monitors}");
    // The same form with another address finds the channel, and keeps what it alerts for.
    let fields = [("url", "https://example.org/"), ("alerts", alerts), ("form", form.as_str())];
    assert_eq!(ada.post("/w/acme/start", &fields).await.status, 303);
    let channels = ada.get("/w/acme/channels").await.text();
    assert_eq!(channels.matches("data-label=\"Channel\"").count(), 1, "{channels}");
    assert!(between(&channels, "data-label=\"Monitors\">", "<").starts_with('2'), "{channels}");
}
