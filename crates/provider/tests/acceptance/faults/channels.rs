//! Faults of channels: ignored updates, optional fields that crash, kinds that cannot be created.

use rules::field::Presence;
use rules::{ProviderType, tables};
use serde_json::{Value, json};

use crate::world::World;

const CHANNELS: &str = "notification.v1.NotificationService";
const MONITORS: &str = "
resource \"service_tcp_monitor\" \"m\" {
  count       = 2
  name        = \"m\"
  uri         = \"example.com:443\"
  periodicity = \"1m\"
}
";

fn channel(more: &str) -> String {
    format!("{MONITORS}resource \"service_notification\" \"c\" {{\n{more}\n}}\n")
}

async fn stored(world: &World) -> Value {
    let list = world.rpc(CHANNELS, "ListNotifications", json!({})).await;
    list["notifications"][0].clone()
}

#[tokio::test]
async fn monitors_of_a_channel_are_added_and_removed() {
    let email = "provider_type = \"email\"\n email {\n email = \"ops@example.com\"\n }\n";
    let world = World::start().await;
    for (ids, count) in [
        ("[service_tcp_monitor.m[0].id]", 1),
        ("service_tcp_monitor.m[*].id", 2),
        ("[service_tcp_monitor.m[1].id]", 1),
        ("[]", 0),
        ("null", 0),
    ] {
        world.settle(&channel(&format!("{email} monitor_ids = {ids}"))).await;
        assert_eq!(stored(&world).await["monitorIds"].as_array().unwrap().len(), count, "{ids}");
    }
}

#[tokio::test]
async fn optional_fields_of_ntfy_come_and_go() {
    let ntfy = |more: &str| {
        channel(&format!("provider_type = \"ntfy\"\n ntfy {{\n topic = \"t\"\n{more}\n }}"))
    };
    let world = World::start().await;
    let state = world.settle(&ntfy("")).await;
    assert_eq!(state.value("service_notification.c", "ntfy")[0]["token"], json!(null));
    world.settle(&ntfy("token = \"tk_1\"\n server_url = \"https://ntfy.example.com\"")).await;
    assert_eq!(stored(&world).await["ntfy"]["token"], "tk_1");
    world.settle(&ntfy("")).await;
    assert_eq!(stored(&world).await["ntfy"], json!({ "topic": "t" }));
}

#[tokio::test]
async fn channel_of_each_kind_is_created() {
    // spec: §2.4
    let fields = |kind: &ProviderType| {
        let fields = tables::NOTIFICATION.block(kind.as_str()).fields.iter();
        let required = fields.filter(|field| field.presence == Presence::Required);
        let lines = required.map(|field| format!("{} = \"{}\"", field.name, field.example("k")));
        lines.collect::<Vec<_>>().join("\n ")
    };
    let one = |kind: &ProviderType| {
        let block = fields(kind);
        format!(
            "resource \"service_notification\" \"{kind}\" {{\n provider_type = \"{kind}\"\n \
             {kind} {{\n {block}\n }}\n}}\n"
        )
    };
    let body: String = ProviderType::ALL.iter().map(one).collect();
    let world = World::start().await;
    let state = world.settle(&body).await;
    assert_eq!(state.addresses().len(), ProviderType::ALL.len());
    world.import_all(&body, &state, &[""; 0]).await;
    world.destroy().await;
}

#[tokio::test]
async fn kind_of_a_channel_changes_in_place() {
    let world = World::start().await;
    let before = world
        .settle(&channel("provider_type = \"email\"\n email {\n email = \"ops@example.com\"\n }"))
        .await;
    let after =
        world.settle(&channel("provider_type = \"ntfy\"\n ntfy {\n topic = \"t\"\n }")).await;
    let id = |state: &terraform_plugin::harness::StateOutput| {
        state.value("service_notification.c", "id").clone()
    };
    assert_eq!(id(&before), id(&after));
    assert_eq!(stored(&world).await.get("email"), None);
}

#[tokio::test]
async fn update_plans_all_values_but_server_outputs() {
    let world = World::start().await;
    let ntfy = |topic: &str| {
        channel(&format!("provider_type = \"ntfy\"\n ntfy {{\n topic = \"{topic}\"\n }}"))
    };
    world.settle(&ntfy("one")).await;
    let plan = world.plan(&ntfy("two")).await;
    assert_eq!(plan.change("service_notification.c").unknown_attributes(), ["updated_at"]);
}

#[tokio::test]
async fn dynamic_headers_keep_their_order() {
    let webhook = |headers: &str| {
        channel(&format!(
            "provider_type = \"webhook\"\n webhook {{\n endpoint = \"https://example.com\"\n {headers}\n }}"
        ))
    };
    let dynamic = "dynamic \"headers\" {\n for_each = [\"B\", \"A\"]\n content {\n key = headers.value\n value = \"\"\n }\n }";
    let world = World::start().await;
    world.settle(&webhook(dynamic)).await;
    assert_eq!(
        stored(&world).await["webhook"]["headers"],
        json!([{ "key": "B", "value": "" }, { "key": "A", "value": "" }])
    );
    world.settle(&webhook("")).await;
    assert_eq!(stored(&world).await["webhook"]["headers"], json!([]));
}

#[tokio::test]
async fn unconfigured_kind_is_a_warning_with_way_out() {
    // issue 5 point 4; design: §4, channels
    let world = World::start().await;
    world.configure(&channel(
        "provider_type = \"email\"\n email {\n email = \"ops@example.com\"\n }",
    ));
    let applied = world.terraform.apply().await.unwrap();
    let warnings = applied.diagnostics.iter().map(ToString::to_string);
    let warnings: Vec<_> = warnings.filter(|warning| warning.contains("channel")).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    warning: The notification channel was stored, but
      on main.tf line 15: provider_type = "email"
      channels of the kind `email` cannot send on this server: set `ALOFT_SMTP_URL`; until then its messages become dead letters.
    "#);
    let plan = world.terraform.plan().await.unwrap();
    assert!(plan.is_empty(), "{}", plan.summary());
}
