//! Random configurations by the tables: each argument absent, null, empty, zero, at its bounds or in between. A
//! configuration has many resources. It is applied, planned again, replaced by another one, imported and
//! destroyed.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use rules::field::{Block, Field, Presence, Resource, Shape};
use rules::tables::{
    DNS_MONITOR, HTTP_MONITOR, NOTIFICATION, STATUS_PAGE, STATUS_PAGE_COMPONENT,
    STATUS_PAGE_COMPONENT_GROUP, TCP_MONITOR,
};

use testkit::pem;

use crate::world::World;

/// Resources of each kind in one configuration.
const EACH: usize = 12;
/// Number of configurations in a row.
const ROUNDS: usize = 3;

/// Quotes a string for HCL.
fn quoted(text: impl AsRef<str>) -> String {
    let text = text.as_ref().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{}\"", text.replace("${", "$${").replace("%{", "%%{"))
}

/// Strings of the least and the greatest length, and some between.
fn text(min: u32, between: &'static str, max: u32) -> BoxedStrategy<String> {
    let (shortest, longest) = ("y".repeat(min as usize), "ü".repeat(max as usize));
    prop_oneof![Just(shortest), between, Just(longest)].prop_map(quoted).boxed()
}

/// Returns the words without private regions, which need a probe.
fn usable(words: &[&'static str]) -> Vec<&'static str> {
    words.iter().copied().filter(|word| !word.starts_with("private-")).collect()
}

/// HCL of a value of a shape; values that must be unique contain `{unique}`.
#[expect(clippy::too_many_lines, reason = "an arm for each shape")]
fn of_shape(shape: Shape) -> BoxedStrategy<String> {
    let words = |words: &'static [&'static str]| proptest::sample::select(words);
    match shape {
        Shape::Text { min, max } => text(min, "[ -~äé€𝄞\n]{1,40}", max.min(2_000)),
        Shape::Line { min, max } => text(min, "[ -~äé€𝄞]{1,40}", max),
        Shape::HttpUrl { max } => prop_oneof![
            "https?://[a-z]{1,9}\\.example(:[1-9][0-9]{1,3})?(/[a-zA-Z0-9._~%+&=-]{0,9})?"
                .prop_map(|url| url.replace('%', "%25")),
            Just(format!("https://example.com/{}", "a".repeat(max as usize - 20))),
        ]
        .prop_map(quoted)
        .boxed(),
        Shape::ContactUrl { .. } => {
            prop_oneof![Just("mailto:help@example.com"), Just("https://example.com/")]
                .prop_map(quoted)
                .boxed()
        }
        Shape::HostPort { .. } => {
            prop_oneof!["[a-z]{1,9}\\.example:[1-9][0-9]{0,3}", "\\[::[1-9]\\]:1"]
                .prop_map(quoted)
                .boxed()
        }
        Shape::DomainName { .. } => {
            // A custom domain must resolve to the server, which is on loopback.
            "[a-zA-Z]{1,9}".prop_map(|name| quoted(format!("{name}.{{unique}}.localhost"))).boxed()
        }
        Shape::HeaderName { .. } | Shape::AnswerHeaderName { .. } => {
            "X-[A-Za-z0-9]{1,9}".prop_map(quoted).boxed()
        }
        Shape::JsonPath { .. } => "\\$(\\.[a-z]{1,9}|\\[[0-9]\\]){0,9}".prop_map(quoted).boxed(),
        Shape::HeaderValue { .. } => "[ -~]{0,20}".prop_map(quoted).boxed(),
        // A certificate has its key.
        Shape::Certificates { .. } => Just(quoted(pem::CERTIFICATE)).boxed(),
        Shape::PrivateKey { .. } => Just(quoted(pem::KEY)).boxed(),
        Shape::Slug { .. } => Just("\"{unique}\"".to_owned()).boxed(),
        Shape::Integer { min, max } => prop_oneof![Just(min), Just(max), min..=max]
            .prop_map(|number| number.to_string())
            .boxed(),
        Shape::Bool => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
        // Targets of the comparators that match are expressions, and not any text.
        Shape::OneOf(all) => {
            let plain: Vec<_> =
                all.iter().copied().filter(|word| !word.ends_with("matches")).collect();
            proptest::sample::select(plain).prop_map(quoted).boxed()
        }
        Shape::SetOf(all) => proptest::sample::subsequence(usable(all), 0..=usable(all).len())
            .prop_shuffle()
            .prop_map(|words| format!("{words:?}"))
            .boxed(),
        Shape::SetOfTags { .. } => {
            proptest::collection::btree_set("[a-z☂][a-z :%]{0,9}[a-z]", 0..4)
                .prop_map(|tags| format!("{:?}", Vec::from_iter(tags)))
                .boxed()
        }
        Shape::ListOfDomains { .. } => proptest::collection::vec("[a-z]{1,9}\\.example", 0..4)
            .prop_map(|names| format!("{names:?}"))
            .boxed(),
        Shape::EmailAddress { .. } => "[a-z.+]{0,9}[a-z]@[a-z]{1,9}\\.example"
            .prop_map(|text| quoted(text.replace("..", ".").trim_start_matches('.')))
            .boxed(),
        Shape::PhoneNumber => "\\+[1-9][0-9]{1,14}".prop_map(quoted).boxed(),
        Shape::TimeOfDay => "(0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]".prop_map(quoted).boxed(),
        Shape::TimeZone => words(&["UTC", "Europe/Berlin"]).prop_map(quoted).boxed(),
        Shape::Interval { min, max } => {
            (min..=max).prop_map(|minutes| quoted(format!("{minutes}m"))).boxed()
        }
        Shape::SetOfIds(_) => proptest::sample::subsequence(vec![0, 1, 2], 0..=3)
            .prop_shuffle()
            .prop_map(|which| {
                let ids = which.iter().map(|at| format!("service_tcp_monitor.r{at}.id"));
                format!("[{}]", ids.collect::<Vec<_>>().join(", "))
            })
            .boxed(),
        Shape::Id(_) | Shape::Instant | Shape::ListOf(_) => {
            unreachable!("references are written by hand")
        }
    }
}

/// Returns a line for a field, null or absent.
fn line(field: &'static Field) -> BoxedStrategy<String> {
    let name = field.name;
    let given = of_shape(field.shape).prop_map(move |text| format!("  {name} = {text}\n"));
    if field.presence == Presence::Required {
        return given.boxed();
    }
    prop_oneof![2 => Just(String::new()), 1 => Just(format!("  {name} = null\n")), 5 => given]
        .boxed()
}

fn block(block: &'static Block) -> BoxedStrategy<String> {
    let most = block.max.unwrap_or(1) as usize;
    let one = one(block);
    let count = prop_oneof![6 => 0..4_usize, 1 => Just(most)];
    count
        .prop_flat_map(move |count| proptest::collection::vec(one.clone(), count))
        .prop_map(|blocks| blocks.concat())
        .boxed()
}

fn one(block: &'static Block) -> BoxedStrategy<String> {
    let name = block.name;
    let lines: Vec<_> =
        block.fields.iter().map(line).chain(block.blocks.iter().map(self::block)).collect();
    lines.prop_map(move |lines| format!("  {name} {{\n{}  }}\n", lines.concat())).boxed()
}

/// Returns a channel of any kind, with the block of its kind.
fn channel() -> BoxedStrategy<String> {
    let kinds = 0..NOTIFICATION.blocks.len();
    let of_kind = |at: usize| {
        let block = &NOTIFICATION.blocks[at];
        let kind = format!("  provider_type = \"{}\"\n", block.name);
        let lines = ["name", "monitor_ids"].map(|name| line(NOTIFICATION.field(name)));
        (lines, one(block)).prop_map(move |(lines, block)| lines.concat() + &kind + &block)
    };
    kinds.prop_flat_map(of_kind).boxed()
}

/// Returns a component of either type on the page of the same number, with or without its group.
fn component() -> BoxedStrategy<String> {
    let given = ["description", "order", "group_order"];
    let name = line(STATUS_PAGE_COMPONENT.field("name"));
    let lines = given.map(|name| line(STATUS_PAGE_COMPONENT.field(name)));
    let shown = prop_oneof![
        Just("  type = \"static\"\n  name = \"Mail\"\n".to_owned()),
        name.prop_map(|name| {
            let monitor = "  type = \"monitor\"\n  monitor_id = service_tcp_monitor.{unique}.id\n";
            format!("{monitor}{name}")
        }),
    ];
    let group = prop_oneof![
        Just(""),
        Just("  group_id = null\n"),
        Just("  group_id = service_status_page_component_group.{unique}.id\n"),
    ];
    let page = "  page_id = service_status_page.{unique}.id\n";
    (lines, shown, group)
        .prop_map(move |(lines, shown, group)| format!("{page}{shown}{group}{}", lines.concat()))
        .boxed()
}

/// Returns a group on the page of the same number.
fn group() -> BoxedStrategy<String> {
    let name = line(STATUS_PAGE_COMPONENT_GROUP.field("name"));
    name.prop_map(|name| format!("  page_id = service_status_page.{{unique}}.id\n{name}")).boxed()
}

/// Returns the body of a resource, valid after `with_valid_dependencies`.
fn resource(table: &'static Resource) -> BoxedStrategy<String> {
    let arguments = table.fields.iter().filter(|field| field.presence != Presence::Output);
    let lines: Vec<_> = arguments.map(line).chain(table.blocks.iter().map(block)).collect();
    lines.prop_map(|lines| lines.concat()).boxed()
}

/// Fixes violations of rules between fields.
fn with_valid_dependencies(body: &str) -> String {
    let given = |name: &str| {
        let start = format!("  {name} = ");
        body.lines().any(|line| {
            line.starts_with(&start) && !line.ends_with("null") && !line.ends_with("[]")
        })
    };
    let needs = |word: &str| body.contains(&format!("access_type = \"{word}\""));
    let without = |body: &str| {
        let lines = body.lines().filter(|line| !line.starts_with("  access_type"));
        lines.fold(String::new(), |body, line| body + line + "\n")
    };
    if (needs("password") && !given("password"))
        || (needs("email-domain") && !given("auth_email_domains"))
    {
        return without(body);
    }
    // A certificate has its key.
    if given("client_certificate") != given("client_key") {
        let lines = body.lines().filter(|line| !line.starts_with("  client_"));
        return lines.fold(String::new(), |body, line| body + line + "\n");
    }
    // The target of an address record is an address.
    body.replace("record = \"A\"", "record = \"TXT\"")
        .replace("record = \"AAAA\"", "record = \"MX\"")
}

fn configuration(runner: &mut TestRunner) -> String {
    let by_table = [&HTTP_MONITOR, &TCP_MONITOR, &DNS_MONITOR, &STATUS_PAGE];
    let mut strategies: Vec<_> =
        by_table.into_iter().map(|table| (table.name, resource(table))).collect();
    strategies.push((NOTIFICATION.name, channel()));
    strategies.push((STATUS_PAGE_COMPONENT.name, component()));
    strategies.push((STATUS_PAGE_COMPONENT_GROUP.name, group()));
    let mut body = String::new();
    for (name, strategy) in strategies {
        for at in 0..EACH {
            let inside = with_valid_dependencies(&strategy.new_tree(runner).unwrap().current());
            let inside = inside.replace("{unique}", &format!("r{at}"));
            writeln!(body, "resource \"{name}\" \"r{at}\" {{\n{inside}}}").unwrap();
        }
    }
    body
}

/// Addresses of resources with an empty list, which an import cannot know.
fn emptied(body: &str) -> Vec<String> {
    let resources = body.split("resource \"").filter(|resource| resource.contains(" = []\n"));
    let address = |resource: &str| {
        let mut words = resource.split('"');
        let (kind, _, label) = (words.next()?, words.next()?, words.next()?);
        Some(format!("{kind}.{label}"))
    };
    resources.filter_map(address).collect()
}

#[tokio::test]
async fn valid_configuration_settles_after_apply_and_import() {
    let mut runner = TestRunner::deterministic();
    let world = World::start().await;
    let mut last = String::new();
    for _ in 0..ROUNDS {
        last = configuration(&mut runner);
        world.configure(&last);
        world.terraform.apply().await.unwrap_or_else(|error| panic!("{error}\n{last}"));
        world.must_be_settled().await;
    }
    let state = world.terraform.state().await.unwrap();
    world.import_all(&last, &state, &emptied(&last)).await;
    world.destroy().await;
}
