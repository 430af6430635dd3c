//! Rejections by chats.

use super::*;

#[tokio::test]
async fn discord() {
    let mut bench = Bench::new(ProviderType::Discord, EventKind::Error).await;
    bench.with("/embeds/0/title", long(257)).await;
    bench.with("/embeds/0/description", long(4_097)).await;
    bench.with("/embeds/0/description", Value::from("😀".repeat(2_049))).await;
    bench.with("/embeds/0/fields/0/value", long(1_025)).await;
    bench.with("/embeds/0/fields/0/value", json!("")).await;
    bench.with("/embeds/0/fields/0/name", Value::Null).await;
    bench
        .with("/embeds/0/fields", Value::from(vec![json!({ "name": "a", "value": "b" }); 26]))
        .await;
    bench
        .with(
            "/embeds/0/fields",
            Value::from(vec![json!({ "name": "a", "value": "x".repeat(1_000) }); 6]),
        )
        .await;
    bench.with("/embeds/0/url", json!("not a url")).await;
    bench.with("/embeds/0/timestamp", json!("yesterday")).await;
    bench.with("/embeds/0/color", json!(0x0100_0000)).await;
    bench.with("/allowed_mentions/parse", json!(["all"])).await;
    bench.with("/embeds", json!([])).await;
    bench.with("/content", long(2_001)).await;
    bench.url("/webhooks/1", "/webhooks/2").await;
    bench.url("wH3n", "other").await;
    bench.header(CONTENT_TYPE, Some("text/plain")).await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"message":"Invalid Form Body","code":50035,"errors":{"embeds":{"0":{"title":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 256 or fewer in length."}]}}}}}
    /embeds/0/title of 259 bytes: 400 embeds.0.title: Must be 256 or fewer in length.
    /embeds/0/description of 4099 bytes: 400 embeds.0.description: Must be 4096 or fewer in length.
    /embeds/0/description of 8198 bytes: 400 embeds.0.description: Must be 4096 or fewer in length.
    /embeds/0/fields/0/value of 1027 bytes: 400 embeds.0.fields.0.value: Must be 1024 or fewer in length.
    /embeds/0/fields/0/value = "": 400 embeds.0.fields.0.value: This field is required
    /embeds/0/fields/0/name = null: 400 embeds.0.fields.0.name: This field is required
    /embeds/0/fields of 651 bytes: 400 embeds.0.fields: Must be 25 or fewer in length.
    /embeds/0/fields of 6145 bytes: 400 embeds: Embed size exceeds maximum size of 6000
    /embeds/0/url = "not a url": 400 embeds.0.url: Not a well formed URL: "not a url"
    /embeds/0/timestamp = "yesterday": 400 embeds.0.timestamp: Could not parse the value. Should be ISO8601.
    /embeds/0/color = 16777216: 400 embeds.0.color: int value should be between 0 and 16777215.
    /allowed_mentions/parse = ["all"]: 400 allowed_mentions.parse.0: Value must be one of ('users', 'roles', 'everyone').
    /embeds = []: 400 Cannot send an empty message
    /content of 2003 bytes: 400 content: Must be 2000 or fewer in length.
    /webhooks/1 → /webhooks/2: 404 Unknown Webhook
    wH3n → other: 401 Invalid Webhook Token
    content-type Some("text/plain"): 400 The request body contains invalid JSON.
    "#);
}

#[tokio::test]
async fn slack() {
    let mut bench = Bench::new(ProviderType::Slack, EventKind::Error).await;
    let block = |block: Value| Value::from(vec![block]);
    let at = "/attachments/0/blocks";
    let section =
        |text: Value| json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } });
    bench.with(at, block(section(long(3_001)))).await;
    bench.with(at, block(section(json!("")))).await;
    bench.with(at, block(json!({ "type": "section" }))).await;
    bench.with(at, block(json!({ "type": "header", "text": { "type": "plain_text", "text": "x".repeat(151) } }))).await;
    bench
        .with(at, block(json!({ "type": "header", "text": { "type": "mrkdwn", "text": "x" } })))
        .await;
    bench.with(at, block(json!({ "type": "section", "fields": vec![json!({ "type": "mrkdwn", "text": "x" }); 11] }))).await;
    bench.with(at, block(json!({ "type": "section", "fields": [{ "type": "mrkdwn", "text": "x".repeat(2_001) }] }))).await;
    bench.with(at, block(json!({ "type": "section", "colour": "red", "text": { "type": "mrkdwn", "text": "x" } }))).await;
    bench.with(at, block(json!({ "type": "chart" }))).await;
    bench.with(at, Value::from(vec![json!({ "type": "divider" }); 51])).await;
    bench.with("/attachments", json!("x")).await;
    bench.with("/attachments", Value::from(vec![json!({ "fallback": "x" }); 101])).await;
    bench.spoiled("nothing", |bad| bad.body = b"{}".to_vec()).await;
    bench.spoiled("no JSON", |bad| bad.body = b"{".to_vec()).await;
    bench.url("/T00000001/", "/T00000002/").await;
    bench.url("/services/", "/elsewhere/").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 invalid_blocks
    /attachments/0/blocks of 3056 bytes: 400 /blocks/0: a text of 3001 characters, at most 3000
    /attachments/0/blocks of 55 bytes: 400 /blocks/0: a text of 0 characters, at most 3000
    /attachments/0/blocks = [{"type":"section"}]: 400 /blocks/0: a section without text and fields
    /attachments/0/blocks of 209 bytes: 400 /blocks/0: a text of 151 characters, at most 150
    /attachments/0/blocks of 55 bytes: 400 /blocks/0: the text of a header is plain_text
    /attachments/0/blocks of 350 bytes: 400 /blocks/0: 11 fields
    /attachments/0/blocks of 2060 bytes: 400 /blocks/0: a text of 2001 characters, at most 2000
    /attachments/0/blocks of 71 bytes: 400 /blocks/0: invalid additional property: colour
    /attachments/0/blocks = [{"type":"chart"}]: 400 /blocks/0: unknown block `chart` in messages of webhooks
    /attachments/0/blocks of 970 bytes: 400 51 blocks
    /attachments = "x": 400 attachments are not a list
    /attachments of 1718 bytes: 400 too many attachments
    nothing: 400 neither text nor blocks
    no JSON: 400 the body is not JSON
    /T00000001/ → /T00000002/: 403 another token
    /services/ → /elsewhere/: 404 unknown path
    "#);
}

#[tokio::test]
async fn telegram() {
    let mut bench = Bench::new(ProviderType::Telegram, EventKind::Error).await;
    bench.with("/text", long(4_097)).await;
    bench.with("/text", json!("<b></b> ")).await;
    bench.with("/text", json!("<b>x")).await;
    bench.with("/text", json!("a <wbr> b")).await;
    bench.with("/text", json!("1 < 2")).await;
    bench.with("/text", Value::Null).await;
    bench.with("/parse_mode", json!("Markup")).await;
    bench.with("/parse_mode", json!("MarkdownV2")).await;
    bench.with("/chat_id", json!("ops")).await;
    bench.with("/chat_id", Value::Null).await;
    bench.url("/bot123456789:", "/bot987654321:").await;
    bench.url("/bot", "/").await;
    bench.url("sendMessage", "sendmessages").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"ok":false,"error_code":400,"description":"Bad Request: message is too long"}
    /text of 4099 bytes: 400 Bad Request: message is too long
    /text = "<b></b> ": 400 Bad Request: message text is empty
    /text = "<b>x": 400 Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"
    /text = "a <wbr> b": 400 Bad Request: can't parse entities: Unsupported start tag "wbr" at byte offset 2
    /text = "1 < 2": 400 Bad Request: can't parse entities: Unclosed start tag at byte offset 2
    /text = null: 400 Bad Request: message text is empty
    /parse_mode = "Markup": 400 Bad Request: unsupported parse_mode
    /parse_mode = "MarkdownV2": 400 Bad Request: can't parse entities: Character '>' is reserved and must be escaped with the preceding '\' (byte offset 7)
    /chat_id = "ops": 400 Bad Request: chat not found
    /chat_id = null: 400 Bad Request: chat_id is empty
    /bot123456789: → /bot987654321:: 401 Unauthorized
    /bot → /: 404 Not Found
    sendMessage → sendmessages: 404 Not Found
    "#);
}

#[tokio::test]
async fn google_chat() {
    let mut bench = Bench::new(ProviderType::GoogleChat, EventKind::Error).await;
    let card = "/cardsV2/0/card";
    bench.with("/cardsV2", json!([])).await;
    bench.with("/colour", json!("red")).await;
    bench.with(&format!("{card}/header/title"), json!("")).await;
    bench.with(&format!("{card}/sections"), json!([])).await;
    bench.with(&format!("{card}/sections/0/widgets"), json!([])).await;
    let widgets = format!("{card}/sections/0/widgets");
    bench.with(&widgets, Value::from(vec![json!({ "divider": {} }); 101])).await;
    bench.with(&format!("{widgets}/0"), json!({ "image": {} })).await;
    bench
        .with(&format!("{widgets}/0"), json!({ "divider": {}, "textParagraph": { "text": "x" } }))
        .await;
    bench.with(&format!("{widgets}/0"), json!({ "textParagraph": { "text": "" } })).await;
    let link = |url: &str| json!({ "buttonList": { "buttons": [{ "text": "x", "onClick": { "openLink": { "url": url } } }] } });
    bench.with(&format!("{widgets}/0"), link("javascript:alert(1)")).await;
    bench
        .with(&format!("{widgets}/0"), json!({ "textParagraph": { "text": "x".repeat(32_000) } }))
        .await;
    bench.with("/thread/threadKey", long(4_001)).await;
    bench.with("/text", long(4_097)).await;
    bench.url("REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD", "REPLY").await;
    bench.url("key=", "key=x").await;
    bench.url("&token=", "&tok=").await;
    bench.url("/spaces/", "/spaces/X").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"error":{"code":400,"message":"Message cannot be empty.","status":"INVALID_ARGUMENT"}}
    /cardsV2 = []: 400 Message cannot be empty.
    /colour = "red": 400 Unknown name "colour": Cannot find field.
    /cardsV2/0/card/header/title = "": 400 card header: `title` is required
    /cardsV2/0/card/sections = []: 400 Cards must have at least one section
    /cardsV2/0/card/sections/0/widgets = []: 400 Sections must have at least one widget
    /cardsV2/0/card/sections/0/widgets of 1516 bytes: 400 Cards have at most 100 widgets
    /cardsV2/0/card/sections/0/widgets/0 = {"image":{}}: 400 Unknown name "image" at 'widgets': Cannot find field.
    /cardsV2/0/card/sections/0/widgets/0 of 43 bytes: 400 Widgets must have exactly one of their fields
    /cardsV2/0/card/sections/0/widgets/0 = {"textParagraph":{"text":""}}: 400 text paragraph: `text` is required
    /cardsV2/0/card/sections/0/widgets/0 of 94 bytes: 400 Invalid URL: javascript:alert(1)
    /cardsV2/0/card/sections/0/widgets/0 of 32029 bytes: 400 Message is too long: at most 32000 bytes
    /thread/threadKey of 4003 bytes: 400 Invalid thread key: 1 to 4000 characters
    /text of 4099 bytes: 400 Message text is too long: at most 4096 characters
    REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD → REPLY: 400 Invalid value at 'message_reply_option'
    key= → key=x: 400 API key not valid. Please pass a valid API key.
    &token= → &tok=: 401 Invalid webhook token.
    /spaces/ → /spaces/X: 404 Requested entity was not found.
    "#);
}

#[tokio::test]
async fn ms_teams() {
    let mut bench = Bench::new(ProviderType::MsTeams, EventKind::Error).await;
    let card = "/attachments/0/content";
    bench.with("/type", json!("card")).await;
    bench.with("/attachments", json!([])).await;
    bench.with("/attachments/0/contentType", json!("text/html")).await;
    bench.with(&format!("{card}/colour"), json!("red")).await;
    bench.with(&format!("{card}/version"), json!("0.5")).await;
    bench.with(&format!("{card}/body"), json!([])).await;
    bench.with(&format!("{card}/body/0"), json!({ "type": "TextBlock", "text": "x" })).await;
    bench.with(&format!("{card}/body/0/inlines/0/text"), json!("")).await;
    bench.with(&format!("{card}/body/0/inlines/0/text"), long(28_672)).await;
    bench.with(&format!("{card}/actions/0/url"), json!("javascript:alert(1)")).await;
    bench.spoiled("no JSON", |bad| bad.body = b"x".to_vec()).await;
    bench.url("sig=", "sig=x").await;
    bench.url("/workflows/", "/workflows/x").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"error":{"code":"TriggerInputSchemaMismatch","message":"the type is not `message`"}}
    /type = "card": 400 the type is not `message`
    /attachments = []: 400 not exactly one attachment
    /attachments/0/contentType = "text/html": 400 the attachment is not an Adaptive Card
    /attachments/0/content/colour = "red": 400 unknown property `colour` of the card
    /attachments/0/content/version = "0.5": 400 the content is not an Adaptive Card of version 1.4
    /attachments/0/content/body = []: 400 the card has no body
    /attachments/0/content/body/0 = {"type":"TextBlock","text":"x"}: 400 unexpected element: {"type":"TextBlock","text":"x"}
    /attachments/0/content/body/0/inlines/0/text = "": 400 a block without text
    /attachments/0/content/body/0/inlines/0/text of 28674 bytes: 413 Request Entity too large
    /attachments/0/content/actions/0/url = "javascript:alert(1)": 400 an action that opens no URL
    no JSON: 400 The body is not JSON.
    sig= → sig=x: 401 The provided authorization signature is invalid.
    /workflows/ → /workflows/x: 404 The workflow could not be found.
    "#);
}
