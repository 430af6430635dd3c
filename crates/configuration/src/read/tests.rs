//! Tests of files: resources, and mistakes with their positions.

use std::path::PathBuf;

use super::*;
use crate::kind::Address;

/// A file with every section.
const WHOLE: &str = "
name: production
monitors:
  shop:
    kind: http
    name: Shop
    url: https://shop.example
    periodicity: 1m
    headers: [{key: Accept, value: text/html}]
    regions: [fly-ams]
  db: {kind: tcp, name: Database, uri: 'db.example:5432', periodicity: 30s, retry: 0}
channels:
  on-call:
    slack: {webhook_url: {env: SLACK}}
    monitor_ids: [shop, mon_1, db]
    events: [error]
    quiet_hours: {from: 22:00, until: 07:00, time_zone: Europe/Berlin}
status_pages:
  status:
    title: Shop status
    slug: shop
    components:
      web: {type: monitor, monitor_id: shop, group_id: front}
    groups:
      front: {name: Storefront}
";

fn document(name: &str, text: &str) -> Document {
    Document { name: name.to_owned(), folder: PathBuf::from("config"), text: text.to_owned() }
}

fn read_all(documents: &[Document]) -> Result<Configuration, Problems> {
    let variable =
        |name: &str| (name == "SLACK").then(|| "https://hooks.example/secret".to_owned());
    let file = |path: &Path| match path.to_str() {
        Some("config/body.txt") => Ok("hello\n".to_owned()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    read(documents, Sources { variable: &variable, file: &file })
}

fn problems(text: &str) -> String {
    read_all(&[document("a.yaml", text)]).unwrap_err().to_string()
}

/// Returns the resources as JSON of the wire, one per line.
fn wires(configuration: &Configuration) -> String {
    let id = |address: &Address| format!("<{}>", address.key);
    let resources = configuration.resources.iter();
    let line = |it: &Desired| format!("{} {}\n", it.address, it.wire(id));
    resources.map(line).collect()
}

#[test]
fn resources_are_in_order_of_creation() {
    let configuration = read_all(&[document("a.yaml", WHOLE)]).unwrap();
    assert_eq!(configuration.name, "production");
    insta::assert_snapshot!(wires(&configuration), @r#"
    HTTP monitor `shop` {"headers":[{"key":"Accept","value":"text/html"}],"name":"Shop","periodicity":"1m","regions":["fly-ams"],"url":"https://shop.example"}
    TCP monitor `db` {"name":"Database","periodicity":"30s","retry":0,"uri":"db.example:5432"}
    status page `status` {"slug":"shop","title":"Shop status"}
    component group `status/front` {"name":"Storefront","pageId":"<status>"}
    component `status/web` {"groupId":"<status/front>","monitorId":"<shop>","pageId":"<status>","type":"monitor"}
    channel `on-call` {"events":["error"],"monitorIds":["<shop>","mon_1","<db>"],"name":"on-call","providerType":"slack","quietHours":{"from":"22:00","until":"07:00","timeZone":"Europe/Berlin"},"slack":{"webhookUrl":"https://hooks.example/secret"}}
    "#);
}

#[test]
fn mistakes_have_positions_and_remedies() {
    insta::assert_snapshot!(problems("
monitor: {}
monitors:
  Shop: {}
  a: {kind: htp}
  b: {name: B}
  c:
    kind: http
    name: 5
    url: ftp://example.com
    perodicity: 1m
    periodicity: 2m
    retry: 11
    active: yes
    tags: a
    regions: [fly-amz]
    headers: [{key: Accept}, {key: A, value: b, extra: c}]
    status_code_assertions: {target: 200, comparator: eq}
  d: [1]
"), @r"
    a.yaml:2:1: `monitor` is not a key of a configuration; did you mean `monitors`?
    a.yaml:4:3: `monitors.Shop` is not a key; keys have up to 63 letters a to z, digits, `_` and `-`, and begin with a letter or a digit
    a.yaml:5:13: `monitors.a.kind` must be one of http, tcp, dns, heartbeat; did you mean `http`?
    a.yaml:6:3: `monitors.b` must have a `kind`: one of http, tcp, dns, heartbeat
    a.yaml:9:11: `monitors.c.name` must be a text; write it in quotes
    a.yaml:10:10: `monitors.c.url` must be an absolute URL that begins with http:// or https://
    a.yaml:11:5: `monitors.c.perodicity` is not a field of HTTP monitors; did you mean `periodicity`?
    a.yaml:12:18: `monitors.c.periodicity` must be one of 30s, 1m, 5m, 10m, 30m, 1h; did you mean `1m`?
    a.yaml:13:12: `monitors.c.retry` must be a whole number from 0 to 10
    a.yaml:14:13: `monitors.c.active` must be true or false
    a.yaml:15:11: `monitors.c.tags` must be a list of texts, such as [a, b]
    a.yaml:16:15: `monitors.c.regions[0]` must be one of 44 names, such as fly-ams, fly-arn, fly-bom, fly-cdg, fly-dfw, fly-ewr, fly-fra, fly-gru, fly-iad, fly-jnb, fly-lax, fly-lhr, fly-nrt, fly-ord, fly-sjc, fly-sin; did you mean `fly-ams`?
    a.yaml:17:15: `monitors.c.headers[0].value` must be given
    a.yaml:17:49: `monitors.c.headers[1].extra` is not a field of `headers`; known are key, value
    a.yaml:18:29: `monitors.c.status_code_assertions` must be a list of mappings
    a.yaml:19:6: `monitors.d` must be a mapping of names to values
    ");
}

#[test]
fn mistakes_of_channels_and_pages_have_positions() {
    insta::assert_snapshot!(problems("
monitors:
  shop: {kind: http, name: Shop, url: 'https://a.example', periodicity: 1m}
channels:
  none: {}
  two: {slack: {webhook_url: 'https://a.example'}, email: {email: a@b.example}}
  wrong: {provider_type: ntfy, email: {email: a@b.example}}
  secret: {slack: {webhook_url: {env: UNSET}}}
  file: {webhook: {endpoint: {file: nowhere}}}
  form: {email: {email: {variable: X}}}
  refers: {email: {email: a@b.example}, monitor_ids: [shp]}
  deep: {webhook: {endpoint: 'https://a.example', headers: [{key: 'a b', value: c}]}}
status_pages:
  a: {title: A, slug: A_B, access_type: password}
  b:
    title: B
    slug: b
    page_id: x
    groups: {g: {name: G}}
    components:
      one: {type: monitor}
      two: {type: static, name: Two, group_id: h}
      three: {type: static, name: Three, page_id: x}
  c: {title: C, slug: c, components: {one: {type: static, name: One, group_id: g}}}
"), @r"
    a.yaml:5:3: `channels.none` must have the block of its kind: one of discord, email, slack, pagerduty, opsgenie, webhook, telegram, sms, whatsapp, google_chat, grafana_oncall, ntfy, ms_teams
    a.yaml:6:3: `channels.two` must have one kind, but has email, slack
    a.yaml:7:3: `channels.wrong.ntfy` must be given when `provider_type` is `ntfy`
    a.yaml:7:39: `channels.wrong.email` must not be given when `provider_type` is `ntfy`
    a.yaml:8:33: `channels.secret.slack.webhook_url` needs the environment variable `UNSET`, which is not set; set it
    a.yaml:9:30: `channels.file.webhook.endpoint` cannot be read from `config/nowhere`: entity not found; correct the path
    a.yaml:10:25: `channels.form.email.email` must be a text, `{env: NAME}` or `{file: PATH}`
    a.yaml:11:55: `channels.refers.monitor_ids[0]` refers to `shp`, which is neither a key of this configuration nor an ID of the form mon_…; did you mean `shop`?
    a.yaml:12:67: `channels.deep.webhook.headers[0].key` must be a header name: letters, digits and !#$%&'*+-.^_`|~
    a.yaml:14:3: `status_pages.a.password` must be given when `access_type` is `password`
    a.yaml:14:23: `status_pages.a.slug` must be words of a–z and 0–9 joined by single hyphens, such as my-page
    a.yaml:18:5: `status_pages.b.page_id` is not a field of status pages; known are title, slug, description, homepage_url, contact_url, icon, custom_domain, access_type, password, auth_email_domains
    a.yaml:21:7: `status_pages.b.components.one.monitor_id` must be given when `type` is `monitor`
    a.yaml:22:48: `status_pages.b.components.two.group_id` refers to `h`, which is neither a key of this configuration nor an ID of the form grp_…
    a.yaml:23:42: `status_pages.b.components.three.page_id` is not a field of components; known are type, monitor_id, name, description, order, group_id, group_order
    a.yaml:24:80: `status_pages.c.components.one.group_id` refers to `g`, which is neither a key of this configuration nor an ID of the form grp_…
    ");
}

#[test]
fn values_of_files_lose_one_newline() {
    let text = "monitors: {a: {kind: http, name: A, url: 'https://a.example', periodicity: 1m,
      method: POST, body: {file: body.txt}}}";
    let configuration = read_all(&[document("a.yaml", text)]).unwrap();
    assert!(wires(&configuration).contains(r#""body":"hello""#));
    assert!(configuration.resources[0].hidden.contains("body"));
}

#[test]
fn files_of_a_folder_are_merged() {
    let monitor = "kind: tcp, name: A, uri: 'a.example:1', periodicity: 1m";
    let one = document("a.yaml", &format!("name: x\nmonitors: {{a: {{{monitor}}}}}"));
    let two = document("b.yaml", "channels: {c: {email: {email: a@b.example}, monitor_ids: [a]}}");
    let merged = read_all(&[one.clone(), two.clone()]).unwrap();
    assert_eq!((merged.name.as_str(), merged.resources.len()), ("x", 2));
    let again = document("c.yaml", &format!("name: y\nmonitors: {{a: {{{monitor}}}}}"));
    let why = read_all(&[one, two, again]).unwrap_err().to_string();
    insta::assert_snapshot!(why, @r"
    c.yaml:1:7: `name` is `y` here and `x` in another file; use one
    c.yaml:2:12: `monitors.a` exists twice; the first one is at a.yaml:2:12
    ");
}

#[test]
fn violations_of_service_have_positions() {
    let configuration = read_all(&[document("a.yaml", WHOLE)]).unwrap();
    let find = |key: &str| configuration.resources.iter().find(|it| it.address.key == key);
    let shop = find("shop").unwrap();
    let problem = |field: &str| shop.problem(field, "is wrong").to_string();
    assert_eq!(
        problem("monitor.headers[0].value"),
        "a.yaml:9:36: `monitors.shop.headers[0].value` is wrong"
    );
    assert_eq!(problem("monitor.timeout"), "a.yaml:4:3: `monitors.shop.timeout` is wrong");
    assert_eq!(problem("monitor"), "a.yaml:4:3: `monitors.shop` is wrong");
    let channel = find("on-call").unwrap();
    let problem = channel.problem("notification.slack.webhook_url", "is wrong").to_string();
    assert_eq!(problem, "a.yaml:14:26: `channels.on-call.slack.webhook_url` is wrong");
}

#[test]
fn masks_omit_fixed_and_computed_fields() {
    let configuration = read_all(&[document("a.yaml", WHOLE)]).unwrap();
    let masks: Vec<String> =
        configuration.resources.iter().map(|it| format!("{} {}", it.address, it.mask())).collect();
    insta::assert_snapshot!(masks.join("\n"), @r"
    HTTP monitor `shop` name,url,periodicity,method,body,timeout,retry,followRedirects,ipVersion,certificateWarnDays,clientCertificate,clientKey,active,public,description,tags,regions,headers,statusCodeAssertions,bodyAssertions,jsonAssertions,headerAssertions
    TCP monitor `db` name,uri,periodicity,timeout,retry,ipVersion,active,public,description,tags,regions
    status page `status` title,slug,description,homepageUrl,contactUrl,icon,customDomain,accessType,password,authEmailDomains
    component group `status/front` name
    component `status/web` monitorId,name,description,order,groupId,groupOrder
    channel `on-call` name,providerType,monitorIds,events,remindEvery,discord,email,slack,pagerduty,opsgenie,webhook,telegram,sms,whatsapp,googleChat,grafanaOncall,ntfy,msTeams,quietHours
    ");
}

#[test]
fn empty_file_is_refused() {
    let why = "a.yaml:1:1: the file is empty; delete it, or give it a `name`";
    assert_eq!(problems("# nothing\n"), why);
    let named = read_all(&[document("a.yaml", "name: a\n")]).unwrap();
    assert!(named.resources.is_empty());
}

#[test]
fn file_of_shared_parts_only_is_refused() {
    for text in ["{}", "x-a: &a {kind: tcp}\n"] {
        assert!(problems(text).contains("the file is empty"), "{text}");
    }
    let text = "x-web: &web {kind: http, periodicity: 1m}
monitors: {a: {<<: *web, name: A, url: 'https://a.example'}}";
    assert_eq!(read_all(&[document("a.yaml", text)]).unwrap().resources.len(), 1);
}

#[test]
fn references_keep_their_text_and_secrets() {
    let text = "
monitors: {0123: {kind: tcp, name: A, uri: 'a.example:1', periodicity: 1m}}
channels: {c: {email: {email: a@b.example}, monitor_ids: [0123]}}";
    let wires = wires(&read_all(&[document("a.yaml", text)]).unwrap());
    assert!(wires.contains(r#""monitorIds":["<0123>"]"#), "{wires}");
    let hidden = text.replace("[0123]", "[{env: SLACK}]");
    insta::assert_snapshot!(problems(&hidden), @"a.yaml:3:59: `channels.c.monitor_ids[0]` has a value from elsewhere that is neither a key of this configuration nor an ID of the form mon_…");
}

#[test]
fn hidden_values_stay_out_of_violations() {
    let text = "monitors:
  a: {kind: tcp, name: {env: SLACK}, uri: 'a.example:1', periodicity: 1m}";
    let configuration = read_all(&[document("a.yaml", text)]).unwrap();
    let problem = |field: &str| {
        let message = "must be short (given: `https://hooks.example/secret`)";
        configuration.resources[0].problem(field, message).to_string()
    };
    assert_eq!(problem("monitor.name"), "a.yaml:2:24: `monitors.a.name` must be short");
    assert!(problem("monitor.uri").ends_with("secret`)"));
    assert!(!format!("{configuration:?}").contains("secret"));
}

#[test]
fn elements_of_lists_are_checked() {
    let text = "
monitors:
  a: {kind: tcp, name: A, uri: 'a.example:1', periodicity: 1m, tags: [web, web, Web, 'a,b', ' c']}
status_pages:
  b: {title: B, slug: b, auth_email_domains: [a.example, 'not a domain']}
";
    insta::assert_snapshot!(problems(text), @r"
    a.yaml:3:81: `monitors.a.tags[2]` differs from an earlier tag only in case, which does not distinguish tags
    a.yaml:3:86: `monitors.a.tags[3]` must not contain a comma
    a.yaml:3:93: `monitors.a.tags[4]` must not begin or end with a space
    a.yaml:5:58: `status_pages.b.auth_email_domains[1]` must have only letters, digits, hyphens and underscores in its domain name
    ");
}
