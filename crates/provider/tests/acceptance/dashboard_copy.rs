//! *Copy as Terraform*: the dashboard's configuration of a monitor imports that monitor without a change, and
//! without its import block creates an equal one. `export` tests the command that writes whole workspaces.

use rules::{MonitorKind, tables};
use serde_json::{Value, json};
use terraform_plugin::harness::PlannedAction;
use testkit::pem;
use testkit::person::Person;
use testkit::tools::{TerraformHost, terraform_hosts};

use crate::world::World;

const MONITORS: &str = "monitor.v1.MonitorService";

/// Fields that differ between two equal monitors.
const OWN_FIELDS: [&str; 5] = ["id", "revision", "status", "createdAt", "updatedAt"];

/// Credentials of the monitors, by the variables that the dashboard puts in their place.
const CREDENTIALS: [(&str, &str); 7] = [
    ("shop_x_amp_credentials", "ada:secret-1%20%22"),
    ("shop_x_amp_authorization", "Bearer secret-2 ${x} \"%{y}\" \\"),
    ("shop_x_amp_x_api_key", "secret-3"),
    ("shop_x_amp_x_api_key_2", "secret-4"),
    ("shop_x_amp_monitor_1st", "secret-5"),
    ("bare_credentials", "secret-6"),
    ("shop_x_amp_client_key", pem::KEY),
];

/// A monitor and the texts that its page *Copy as Terraform* offers.
struct CopiedMonitor {
    kind: MonitorKind,
    /// The monitor as the API returns it.
    stored: Value,
    /// Text of *Configuration*.
    configuration: String,
    /// Text of *Import*.
    command: String,
}

impl CopiedMonitor {
    /// Creates a monitor through the API and copies it from the dashboard.
    async fn create(world: &World, person: &Person, kind: MonitorKind, monitor: Value) -> Self {
        let method = match kind {
            MonitorKind::Http => "CreateHttpMonitor",
            MonitorKind::Tcp => "CreateTcpMonitor",
            MonitorKind::Dns => "CreateDnsMonitor",
            MonitorKind::Heartbeat => "CreateHeartbeatMonitor",
        };
        let created = world.rpc(MONITORS, method, json!({ "monitor": monitor })).await;
        let id = created["monitor"]["id"].as_str().unwrap();
        let page = person.get(&format!("/w/acme/monitors/{id}/terraform")).await;
        assert_eq!(page.status, 200, "{page}");
        let page = page.text();
        let (configuration, command) = (copied(&page, "configuration"), copied(&page, "import"));
        assert!(!configuration.contains("secret-"), "{configuration}");
        assert!(!configuration.contains("PRIVATE KEY"), "{configuration}");
        Self { kind, stored: stored(world, kind, id).await, configuration, command }
    }

    /// Returns the resource's address in Terraform.
    fn address(&self) -> &str {
        self.command.split(' ').nth(2).unwrap()
    }

    /// Returns the configuration without its import block.
    fn without_import(&self) -> &str {
        self.configuration.split_once("\nimport {").unwrap().0
    }
}

/// A server with monitors, and a Terraform that has the credentials of their copies.
struct CopyWorld {
    world: World,
    copies: Vec<CopiedMonitor>,
}

impl CopyWorld {
    async fn start_on(host: &TerraformHost) -> Self {
        let mut world = World::start_on(host).await;
        for (variable, value) in CREDENTIALS {
            world.terraform.set(format!("TF_VAR_{variable}"), value);
        }
        let person = Person::set_up(&world.server).await;
        let mut copies = Vec::new();
        for (kind, monitor) in monitors() {
            copies.push(CopiedMonitor::create(&world, &person, kind, monitor).await);
        }
        Self { world, copies }
    }
}

/// Returns one configuration of all copies, as a person pastes them one below the other.
fn joined(copies: &[CopiedMonitor], text: impl Fn(&CopiedMonitor) -> &str) -> String {
    copies.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Returns a monitor of each kind with every argument, and then monitors with fewer.
fn monitors() -> [(MonitorKind, Value); 8] {
    [
        (MonitorKind::Http, full_http_monitor()),
        (MonitorKind::Tcp, full_tcp_monitor()),
        (MonitorKind::Dns, full_dns_monitor()),
        (
            MonitorKind::Heartbeat,
            json!({
                "name": "Backup", "interval": 31_622_400, "grace": 0, "active": true,
                "public": true, "description": "Nightly ${job}", "tags": ["jobs"],
            }),
        ),
        (
            MonitorKind::Http,
            json!({ "name": "Plain", "url": "https://example.com", "periodicity": "1m" }),
        ),
        (
            MonitorKind::Tcp,
            json!({ "name": "1st 監視", "uri": "example.com:443", "periodicity": "5m" }),
        ),
        (MonitorKind::Dns, json!({ "name": "…", "uri": "example.com", "periodicity": "1h" })),
        (
            MonitorKind::Http,
            json!({
                "name": "bare", "url": "http://secret-6@[2001:db8::1]:8080", "periodicity": "10m",
                "timeout": 0, "degradedAt": 0, "retry": 0, "description": "", "body": "",
            }),
        ),
    ]
}

fn full_http_monitor() -> Value {
    json!({
        "name": "Shop \"${x}\" <&amp;> '\\",
        "url": "https://ada:secret-1%20%22@example.com/${path}/%7Bb%7D?c=d&e='f'#$${g}",
        "periodicity": "30s",
        "method": "POST",
        "body": "{\"a\": \"${b}\", \"c\": \"\\\\ $${d} %{e} %%{f}\"}\r\n\t<g>&lt;</g> für 監視 🚀 \u{202e}\u{1}\n",
        "timeout": 20_000,
        "degradedAt": 5_000,
        "retry": 7,
        "followRedirects": false,
        "ipVersion": "ipv6",
        "certificateWarnDays": 14,
        "clientCertificate": pem::CERTIFICATE,
        "clientKey": pem::KEY,
        "active": true,
        "public": true,
        "description": "\nTwo \"lines\",\nand ${three} &#38; %{four}",
        "tags": ["team: Größe", "${prod}", "\"quoted\" \\"],
        "regions": ["koyeb-sin", "fly-ams", "railway-us-west2"],
        "headers": [
            { "key": "Content-Type", "value": "application/json; a=\"${b}\"" },
            { "key": "Authorization", "value": "Bearer secret-2 ${x} \"%{y}\" \\" },
            { "key": "X-Api-Key", "value": "secret-3" },
            { "key": "X_Api_Key", "value": "secret-4" },
            { "key": "1st", "value": "secret-5" },
            { "key": "X-Empty", "value": "" },
        ],
        "statusCodeAssertions": [
            { "target": 599, "comparator": "lte" },
            { "target": 200, "comparator": "gte" },
        ],
        "bodyAssertions": [
            { "target": "", "comparator": "not_empty" },
            { "target": "\"ok\":\n${true} %{if} \\", "comparator": "not_contains" },
        ],
        "jsonAssertions": [
            { "path": "$['${a}'][?@.b == \"%{x}\"]", "target": "^\\d+ [${y}]$", "comparator": "not_matches" },
            { "path": "$..c", "target": "", "comparator": "not_empty" },
        ],
        "headerAssertions": [
            { "key": "Server", "target": "%{x} ${y}", "comparator": "neq" },
            { "key": "X-Empty", "target": "", "comparator": "empty" },
        ],
    })
}

fn full_tcp_monitor() -> Value {
    json!({
        "name": "Database", "uri": "[2001:db8::1]:5432", "periodicity": "10m", "timeout": 120_000,
        "degradedAt": 120_000, "retry": 10, "ipVersion": "ipv4", "active": true, "public": true,
        "description": "Port of ${database}", "tags": ["db"], "regions": ["fly-iad"],
    })
}

fn full_dns_monitor() -> Value {
    json!({
        "name": "Zone", "uri": "_dmarc.bücher.example", "periodicity": "30m", "timeout": 1,
        "degradedAt": 1, "retry": 1, "active": true, "public": true,
        "description": "Records\tof the \\ zone", "tags": ["dns", "mail"],
        "regions": ["fly-nrt", "fly-syd"],
        "recordAssertions": [
            { "record": "TXT", "target": "v=spf1 \"${all}\" %{x}", "comparator": "not_contains" },
            { "record": "A", "target": "192.0.2.1", "comparator": "eq" },
            { "record": "MX", "target": "10 mail.example.com", "comparator": "neq" },
            { "record": "TXT", "target": "", "comparator": "contains" },
        ],
    })
}

/// Returns the text that the button of an element copies, as `copy.js` does: the text of the element.
fn copied(page: &str, id: &str) -> String {
    let start = format!("<pre class=\"code\" id=\"{id}\" tabindex=\"0\">");
    let html = page.split_once(&start).unwrap().1.split_once("</pre>").unwrap().0;
    assert!(!html.contains('<'), "{html}");
    let characters = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'")];
    let text = characters.iter().fold(html.to_owned(), |text, (from, to)| text.replace(from, to));
    text.replace("&#38;", "&")
}

/// Returns a stored monitor.
async fn stored(world: &World, kind: MonitorKind, id: &str) -> Value {
    world.rpc(MONITORS, "GetMonitor", json!({ "id": id })).await["monitor"][kind.as_str()].clone()
}

/// Returns a monitor without the fields that differ between two equal monitors.
fn comparable(kind: MonitorKind, monitor: &Value) -> Value {
    let mut monitor = monitor.clone();
    // Each heartbeat monitor has a URL of its own.
    let own_url = (kind == MonitorKind::Heartbeat).then_some("url");
    for field in OWN_FIELDS.into_iter().chain(own_url) {
        assert!(monitor.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    monitor
}

// issue 18, point 4: "Copy as Terraform" offers every argument
#[tokio::test]
async fn copies_under_test_have_every_argument() {
    let [host, ..] = terraform_hosts();
    let CopyWorld { copies, .. } = CopyWorld::start_on(&host).await;
    for (kind, copy) in MonitorKind::ALL.iter().zip(&copies) {
        assert_eq!(copy.kind, *kind);
        for name in tables::monitor(*kind).writable() {
            let text = &copy.configuration;
            assert!(text.contains(&format!("\n  {name} ")), "no `{name}` in the copy:\n{text}");
        }
    }
}

// issue 18, point 4: "Copy as Terraform"
#[tokio::test]
async fn dashboard_copy_only_imports_the_monitor() {
    for host in terraform_hosts() {
        let CopyWorld { world, copies } = &CopyWorld::start_on(&host).await;
        let body = joined(copies, |copy| &copy.configuration);
        let errors = world.validation_errors(&body).await;
        assert!(errors.is_empty(), "{}: {errors:?}\n{body}", host.name);
        let formatted = world.terraform.run(&["fmt", "-check", "-diff"]).await;
        formatted.unwrap_or_else(|why| panic!("{}: {why}", host.name));
        let plan = world.plan(&body).await;
        assert_eq!(plan.changes.len(), copies.len(), "{}: {}", host.name, plan.summary());
        for copy in copies {
            let change = plan.change(copy.address());
            assert_eq!(change.action, PlannedAction::Nothing, "{}: {}", host.name, plan.summary());
            assert_eq!(change.importing.as_deref(), copy.stored["id"].as_str(), "{}", host.name);
        }
        world.apply_planned().await;
        world.must_be_settled().await;
    }
}

// issue 18, point 4: "Copy as Terraform"
#[tokio::test]
async fn copied_import_command_leaves_nothing_to_change() {
    for host in terraform_hosts() {
        let CopyWorld { world, copies } = &CopyWorld::start_on(&host).await;
        world.configure(&joined(copies, CopiedMonitor::without_import));
        for copy in copies {
            let words: Vec<&str> = copy.command.split(' ').collect();
            assert_eq!(words[0], "terraform");
            let imported = world.terraform.run(&words[1..]).await;
            imported.unwrap_or_else(|why| panic!("{}: {why}", host.name));
        }
        world.must_be_settled().await;
    }
}

// issue 18, point 4: "Copy as Terraform"
#[tokio::test]
async fn applied_copy_creates_an_equal_monitor() {
    for host in terraform_hosts() {
        let CopyWorld { world, copies } = &CopyWorld::start_on(&host).await;
        let state = world.settle(&joined(copies, CopiedMonitor::without_import)).await;
        for copy in copies {
            let id = state.value(copy.address(), "id").as_str().unwrap();
            assert_ne!(id, copy.stored["id"]);
            let created = stored(world, copy.kind, id).await;
            let (created, stored) =
                (comparable(copy.kind, &created), comparable(copy.kind, &copy.stored));
            assert_eq!(created, stored, "{}", host.name);
        }
    }
}
