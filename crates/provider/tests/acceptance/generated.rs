//! Configurations that nobody thought of: each argument absent, null, empty, zero, at its bounds or
//! anything in between, by the tables. Many resources stand in one configuration; it is applied,
//! planned again, changed into another one, imported, and destroyed.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use rules::field::{Block, Field, Presence, Resource, Shape};
use rules::tables::{DNS_MONITOR, HTTP_MONITOR, STATUS_PAGE, TCP_MONITOR};

use crate::world::World;

/// Resources of each kind in one configuration.
const EACH: usize = 12;
/// Configurations that one becomes, one after the other.
const ROUNDS: usize = 3;

/// A text as HCL writes it.
fn quoted(text: impl AsRef<str>) -> String {
    let text = text.as_ref().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{}\"", text.replace("${", "$${").replace("%{", "%%{"))
}

/// A text of HCL for a value of this shape; texts that must be unique have `{unique}`.
fn of_shape(shape: Shape) -> BoxedStrategy<String> {
    let words = |words: &'static [&'static str]| proptest::sample::select(words);
    match shape {
        Shape::Text { min, max } => prop_oneof![
            Just("y".repeat(min as usize)),
            "[ -~äé€𝄞\n]{1,40}".prop_map(|text: String| text),
            Just("ü".repeat(max.min(2_000) as usize)),
        ]
        .prop_map(quoted)
        .boxed(),
        Shape::Line { min, max } => prop_oneof![
            Just("y".repeat(min as usize)),
            "[ -~äé€𝄞]{1,40}".prop_map(|text: String| text),
            Just("ü".repeat(max as usize)),
        ]
        .prop_map(quoted)
        .boxed(),
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
            "[a-zA-Z]{1,9}".prop_map(|name| quoted(format!("{name}.{{unique}}.example"))).boxed()
        }
        Shape::HeaderName { .. } | Shape::AnswerHeaderName { .. } => {
            "X-[A-Za-z0-9]{1,9}".prop_map(quoted).boxed()
        }
        Shape::HeaderValue { .. } => "[ -~]{0,20}".prop_map(quoted).boxed(),
        Shape::Slug { .. } => Just("\"{unique}\"".to_owned()).boxed(),
        Shape::Integer { min, max } => prop_oneof![Just(min), Just(max), min..=max]
            .prop_map(|number| number.to_string())
            .boxed(),
        Shape::Bool => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
        Shape::OneOf(all) => words(all).prop_map(quoted).boxed(),
        Shape::SetOf(all) => proptest::sample::subsequence(all, 0..=all.len())
            .prop_shuffle()
            .prop_map(|words| format!("{words:?}"))
            .boxed(),
        Shape::ListOfDomains { .. } => proptest::collection::vec("[a-z]{1,9}\\.example", 0..4)
            .prop_map(|names| format!("{names:?}"))
            .boxed(),
        Shape::EmailAddress { .. }
        | Shape::PhoneNumber
        | Shape::Id(_)
        | Shape::SetOfIds(_)
        | Shape::Instant
        | Shape::ListOf(_) => unreachable!("no resource here has one"),
    }
}

/// A line for a field, or none, or one that says null.
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
    let name = block.name;
    let most = block.max.unwrap_or(1) as usize;
    let one = block.fields.iter().map(line).collect::<Vec<_>>();
    let one = one.prop_map(move |lines| format!("  {name} {{\n{}  }}\n", lines.concat()));
    let count = prop_oneof![6 => 0..4_usize, 1 => Just(most)];
    count
        .prop_flat_map(move |count| proptest::collection::vec(one.clone(), count))
        .prop_map(|blocks| blocks.concat())
        .boxed()
}

/// The inside of a resource, valid but for what `mended` puts right.
fn resource(table: &'static Resource) -> BoxedStrategy<String> {
    let arguments = table.fields.iter().filter(|field| field.presence != Presence::Output);
    let lines: Vec<_> = arguments.map(line).chain(table.blocks.iter().map(block)).collect();
    lines.prop_map(|lines| lines.concat()).boxed()
}

/// What only rules between fields refuse.
fn mended(body: &str) -> String {
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
    // Addresses are compared with addresses.
    body.replace("record = \"A\"", "record = \"TXT\"")
        .replace("record = \"AAAA\"", "record = \"MX\"")
}

fn configuration(runner: &mut TestRunner) -> String {
    let mut body = String::new();
    for table in [&HTTP_MONITOR, &TCP_MONITOR, &DNS_MONITOR, &STATUS_PAGE] {
        let strategy = resource(table);
        for at in 0..EACH {
            let inside = mended(&strategy.new_tree(runner).unwrap().current());
            let inside = inside.replace("{unique}", &format!("u{at}"));
            writeln!(body, "resource \"{}\" \"r{at}\" {{\n{inside}}}", table.name).unwrap();
        }
    }
    body
}

/// Addresses of resources with a list that is configured as empty, which an import cannot know.
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
async fn any_valid_configuration_is_settled_after_apply_and_after_import() {
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
