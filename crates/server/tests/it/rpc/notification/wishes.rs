//! Preferences of a channel over RPC: round trips, and updates that do not name them.

use rules::{ProviderType, Scope};
use serde_json::{Value, json};
use testkit::server::TestServer;

use super::{a_channel, call, create, created, get};

fn wishing() -> Value {
    let mut channel = a_channel(ProviderType::Slack);
    channel["events"] = json!(["error", "degraded"]);
    channel["remindEvery"] = json!("60m");
    channel["quietHours"] = json!({
        "from": "22:00", "until": "07:00", "timeZone": "Europe/Berlin", "appliesTo": "all_but_errors",
    });
    channel
}

/// Returns the three preferences of a channel.
fn wishes(channel: &Value) -> Value {
    json!([channel["events"], channel["remindEvery"], channel["quietHours"]])
}

#[tokio::test]
async fn wishes_are_read_as_they_were_written_also_by_read_keys() {
    // issue 6, point 4; design: §4, no value is normalized
    let server = TestServer::start().await;
    let (write, read) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let channel = created(&write, &wishing()).await;
    assert_eq!(wishes(&channel), wishes(&wishing()));
    let answered = get(&read, &channel["id"]).await.json()["notification"].clone();
    assert_eq!(wishes(&answered), wishes(&wishing()));
    let bare = created(&write, &a_channel(ProviderType::Slack)).await;
    assert_eq!(wishes(&bare), json!([[], null, null]), "{bare}");
}

#[tokio::test]
async fn an_update_changes_wishes_only_where_its_mask_names_them() {
    // design: §4: an update without a mask keeps fields that its client does not know
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let channel = created(&caller, &wishing()).await;
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
    assert_eq!((&after["name"], wishes(&after)), (&json!("renamed"), wishes(&wishing())));
    // A mask of the fields known to the Terraform provider does not touch them either.
    let after = update(json!({ "name": "again" }), json!("name,monitorIds")).await;
    assert_eq!(wishes(&after), wishes(&wishing()));
    let wanted = json!({ "remindEvery": "2h" });
    let after = update(wanted, json!("events,remindEvery")).await;
    assert_eq!(wishes(&after), json!([[], "2h", wishing()["quietHours"]]));
    let after = update(json!({}), json!("remindEvery,quietHours")).await;
    assert_eq!(wishes(&after), json!([[], null, null]));
}

#[tokio::test]
async fn a_wish_that_cannot_be_is_refused_by_its_path_and_nothing_is_stored() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut channel = wishing();
    channel["events"] = json!(["error", "test"]);
    channel["remindEvery"] = json!("4m");
    channel["quietHours"] = json!({ "from": "22:00", "until": "22:00", "timeZone": "CEST" });
    insta::assert_snapshot!(create(&caller, &channel).await, @r#"400 {"code":"invalid_argument","message":"`notification.events` may only hold the 3 values error, degraded, recovered (given: `test`); `notification.remind_every` must be from 5m to 24h (given: `4m`); `notification.quiet_hours.time_zone` must be a name of the IANA time zones, such as Europe/Berlin (given: `CEST`); `notification.quiet_hours.until` must be another time than `from` (given: `22:00`)"}"#);
    assert_eq!(call(&caller, "ListNotifications", json!({})).await.json()["totalSize"], 0);
}
