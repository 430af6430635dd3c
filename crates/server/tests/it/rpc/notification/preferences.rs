//! Preferences of a channel over RPC: round trips, and updates that do not name them.

use rules::{ProviderType, Scope};
use serde_json::{Value, json};
use testkit::server::TestServer;

use super::{a_channel, call, create, created, get};

fn channel_with_preferences() -> Value {
    let mut channel = a_channel(ProviderType::Slack);
    channel["events"] = json!(["error", "degraded"]);
    channel["remindEvery"] = json!("60m");
    channel["quietHours"] = json!({
        "from": "22:00", "until": "07:00", "timeZone": "Europe/Berlin", "appliesTo": "all_but_errors",
    });
    channel
}

/// Returns the three preferences of a channel.
fn preferences(channel: &Value) -> Value {
    json!([channel["events"], channel["remindEvery"], channel["quietHours"]])
}

#[tokio::test]
async fn preferences_read_back_equal_for_all_keys() {
    // issue 6, point 4; design: §4, no value is normalized
    let server = TestServer::start().await;
    let (write, read) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let channel = created(&write, &channel_with_preferences()).await;
    assert_eq!(preferences(&channel), preferences(&channel_with_preferences()));
    let answered = get(&read, &channel["id"]).await.json()["notification"].clone();
    assert_eq!(preferences(&answered), preferences(&channel_with_preferences()));
    let bare = created(&write, &a_channel(ProviderType::Slack)).await;
    assert_eq!(preferences(&bare), json!([[], null, null]), "{bare}");
}

#[tokio::test]
async fn update_changes_only_masked_preferences() {
    // design: §4: an update without a mask keeps fields that its client does not know
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let channel = created(&caller, &channel_with_preferences()).await;
    let update = async |given: Value, mask: Value| {
        let mut given = given;
        given["id"] = channel["id"].clone();
        let mut request = json!({ "notification": given });
        if !mask.is_null() {
            request["updateMask"] = mask;
        }
        call(&caller, "UpdateNotification", request).await.json()["notification"].clone()
    };
    let mut renamed = a_channel(ProviderType::Ntfy);
    renamed["name"] = json!("renamed");
    let after = update(renamed, Value::Null).await;
    assert_eq!(
        (&after["name"], preferences(&after)),
        (&json!("renamed"), preferences(&channel_with_preferences()))
    );
    // A mask of the fields known to the Terraform provider does not touch them either.
    let after = update(json!({ "name": "again" }), json!("name,monitorIds")).await;
    assert_eq!(preferences(&after), preferences(&channel_with_preferences()));
    let wanted = json!({ "remindEvery": "2h" });
    let after = update(wanted, json!("events,remindEvery")).await;
    assert_eq!(preferences(&after), json!([[], "2h", channel_with_preferences()["quietHours"]]));
    let after = update(json!({}), json!("remindEvery,quietHours")).await;
    assert_eq!(preferences(&after), json!([[], null, null]));
}

#[tokio::test]
async fn invalid_preference_is_refused_by_path() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut channel = channel_with_preferences();
    channel["events"] = json!(["error", "test"]);
    channel["remindEvery"] = json!("4m");
    channel["quietHours"] = json!({ "from": "22:00", "until": "22:00", "timeZone": "CEST" });
    insta::assert_snapshot!(create(&caller, &channel).await, @r#"400 {"code":"invalid_argument","message":"`notification.events` may only hold the 3 values error, degraded, recovered (given: `test`); `notification.remind_every` must be from 5m to 24h (given: `4m`); `notification.quiet_hours.time_zone` must be a name of the IANA time zones, such as Europe/Berlin (given: `CEST`); `notification.quiet_hours.until` must be another time than `from` (given: `22:00`)"}"#);
    assert_eq!(call(&caller, "ListNotifications", json!({})).await.json()["totalSize"], 0);
}
