//! Every field of every table through the validator: at its bounds and one past them, absent, and in
//! the wrong format; and the rules between fields.

use aloft_rules::field::{Block, Field, Presence, Resource, Rule, Shape, Value};
use aloft_rules::{Validator, Violations, tables};

/// Returns all tables with writable fields, including the arguments of data sources.
fn all() -> impl Iterator<Item = &'static Resource> {
    let resources = tables::RESOURCES.iter().chain(&tables::DATA_SOURCES).copied();
    resources.chain([&tables::WORKSPACE, &tables::KEY])
}

/// Returns every argument of every resource, including blocks: resource, path of blocks, and field.
fn arguments() -> Vec<(&'static Resource, Vec<&'static Block>, &'static Field)> {
    let mut found = vec![];
    for resource in all() {
        found.extend(written(resource.fields).map(|field| (resource, vec![], field)));
        for block in resource.blocks {
            found.extend(written(block.fields).map(|field| (resource, vec![block], field)));
            for inner in block.blocks {
                let fields = written(inner.fields);
                found.extend(fields.map(|field| (resource, vec![block, inner], field)));
            }
        }
    }
    found
}

fn written(fields: &'static [Field]) -> impl Iterator<Item = &'static Field> {
    fields.iter().filter(|field| field.presence != Presence::Output)
}

/// Reads one field within its blocks; returns its value or the violations.
fn read<T>(
    resource: &'static Resource,
    blocks: &[&Block],
    read: &dyn Fn(&mut Validator) -> Option<T>,
) -> Result<Option<T>, Violations> {
    fn inside<T>(
        validator: &mut Validator,
        blocks: &[&Block],
        read: &dyn Fn(&mut Validator) -> Option<T>,
    ) -> Option<T> {
        let Some((block, rest)) = blocks.split_first() else { return read(validator) };
        validator.blocks(block.name, vec![()], |validator, ()| inside(validator, rest, read)).pop()
    }
    let mut validator = Validator::new(resource);
    let value = inside(&mut validator, blocks, read);
    validator.finish(Some(value))
}

fn text(
    (resource, blocks, field): &(&'static Resource, Vec<&'static Block>, &'static Field),
    given: Option<&str>,
) -> Result<Option<String>, Violations> {
    read(resource, blocks, &|validator| validator.text(field.name, given.map(ToOwned::to_owned)))
}

fn integer(
    (resource, blocks, field): &(&'static Resource, Vec<&'static Block>, &'static Field),
    given: Option<i32>,
) -> Result<Option<i32>, Violations> {
    read(resource, blocks, &|validator| validator.integer(field.name, given))
}

/// Returns a text of this shape with this many characters.
fn of_length(shape: Shape, length: u32) -> String {
    let fill = |start: &str, end: &str| {
        let middle = (length as usize).saturating_sub(start.chars().count() + end.chars().count());
        format!("{start}{}{end}", "a".repeat(middle))
    };
    match shape {
        Shape::HttpUrl { .. } | Shape::ContactUrl { .. } => fill("https://example.com/", ""),
        Shape::DomainName { .. } => {
            let label = format!("{}.", "a".repeat(63));
            label.repeat(length as usize / 64 + 1).chars().take(length as usize).collect()
        }
        Shape::EmailAddress { .. } => {
            let label = format!("{}.", "a".repeat(63));
            let local = "a".repeat(2 + length as usize % 2);
            let domain: String = label
                .repeat(length as usize / 64 + 1)
                .chars()
                .take(length as usize - local.len() - 1)
                .collect();
            format!("{local}@{domain}")
        }
        Shape::PhoneNumber => format!("+{}", "1".repeat(length as usize - 1)),
        Shape::Id(prefix) => fill(prefix, ""),
        Shape::JsonPath { .. } => fill("$.", ""),
        Shape::Certificates { .. } => {
            fill("-----BEGIN CERTIFICATE-----\n", "\n-----END CERTIFICATE-----\n")
        }
        Shape::PrivateKey { .. } => {
            fill("-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----\n")
        }
        Shape::Text { .. }
        | Shape::Line { .. }
        | Shape::HostPort { .. }
        | Shape::HeaderName { .. }
        | Shape::AnswerHeaderName { .. }
        | Shape::HeaderValue { .. }
        | Shape::Slug { .. }
        | Shape::TimeOfDay
        | Shape::TimeZone
        | Shape::Interval { .. }
        | Shape::Integer { .. }
        | Shape::Bool
        | Shape::OneOf(_)
        | Shape::SetOf(_)
        | Shape::SetOfIds(_)
        | Shape::SetOfTags { .. }
        | Shape::ListOfDomains { .. }
        | Shape::Instant
        | Shape::ListOf(_) => fill("", ""),
    }
}

#[test]
fn texts_past_their_limit_are_rejected() {
    // spec: §2, §8.1
    let mut seen = 0;
    for argument in arguments() {
        let field = argument.2;
        let Some((min, max)) = field.shape.characters() else { continue };
        seen += 1;
        let longer = text(&argument, Some(&of_length(field.shape, max + 1))).unwrap_err();
        assert!(longer.0[0].allowed.contains(&max.to_string()), "{field:?}: {longer}");
        assert_eq!(text(&argument, Some("")).is_ok(), min == 0, "{field:?}");
        // A name is shorter than its field, and a port has few values: their formats have separate
        // tests.
        if max == 2_048 && matches!(field.shape, Shape::DomainName { .. } | Shape::HostPort { .. })
        {
            continue;
        }
        let longest = of_length(field.shape, max);
        assert_eq!(text(&argument, Some(&longest)), Ok(Some(longest)), "{field:?}");
    }
    assert!(seen > 50, "the tables have {seen} texts");
}

#[test]
fn numbers_past_their_limits_are_rejected() {
    // spec: §2, §8.1
    let mut seen = 0;
    for argument in arguments() {
        let Shape::Integer { min, max } = argument.2.shape else { continue };
        seen += 1;
        for bound in [min, max] {
            assert_eq!(integer(&argument, Some(bound)), Ok(Some(bound)), "{:?}", argument.2);
        }
        for past in [min.checked_sub(1), max.checked_add(1)].into_iter().flatten() {
            let refusal = integer(&argument, Some(past)).unwrap_err();
            assert_eq!(refusal.0[0].given, Some(past.to_string()), "{:?}", argument.2);
        }
    }
    assert!(seen > 12, "the tables have {seen} numbers");
}

#[test]
fn omitted_value_is_rejected_absent_or_default() {
    // spec: §2
    for argument in arguments() {
        let field = argument.2;
        if field.shape.characters().is_some() {
            match field.presence {
                Presence::Required => assert!(text(&argument, None).is_err(), "{field:?}"),
                Presence::Default(Value::Text(value)) => {
                    assert_eq!(text(&argument, None), Ok(Some(value.to_owned())), "{field:?}");
                }
                Presence::Default(_)
                | Presence::Optional
                | Presence::Computed
                | Presence::Output => assert_eq!(text(&argument, None), Ok(None), "{field:?}"),
            }
        }
        if matches!(field.shape, Shape::Integer { .. }) {
            match field.presence {
                Presence::Required => assert!(integer(&argument, None).is_err(), "{field:?}"),
                Presence::Default(Value::Integer(value)) => {
                    assert_eq!(integer(&argument, None), Ok(Some(value)), "{field:?}");
                }
                Presence::Default(_)
                | Presence::Optional
                | Presence::Computed
                | Presence::Output => assert_eq!(integer(&argument, None), Ok(None), "{field:?}"),
            }
        }
    }
}

#[test]
fn violations_never_repeat_secrets() {
    // spec: §2.4, §2.5
    let mut seen = 0;
    for argument in arguments().iter().filter(|argument| argument.2.sensitive) {
        seen += 1;
        let refusal = text(argument, Some("hunter2\0")).unwrap_err().to_string();
        assert!(!refusal.contains("hunter2"), "{refusal}");
    }
    assert_eq!(seen, 10, "eight of channels, the page's password, and the key of monitors");
}

#[test]
fn nested_blocks_have_nested_paths() {
    // spec: §2.4
    let mut validator = Validator::new(&tables::NOTIFICATION);
    let endpoints =
        validator.blocks("webhook", vec!["https://a.example"], |validator, endpoint| {
            validator.blocks("headers", vec!["fine", "not fine"], |validator, key| {
                validator.text("key", Some(key.to_owned()))
            });
            validator.text("endpoint", Some(endpoint.to_owned()))
        });
    assert_eq!(endpoints, ["https://a.example"]);
    let violations = validator.finish(Some(())).unwrap_err();
    assert_eq!(violations.0[0].field, "webhook[0].headers[1].key");
}

#[test]
fn access_type_requires_its_field() {
    // spec: §2.5
    let held = |access: &'static str, given: &'static str| {
        let mut validator = Validator::new(&tables::STATUS_PAGE);
        validator.check_rules(|_| Some(access), |field| field == given);
        validator.finish(Some(())).map_err(|violations| violations.to_string())
    };
    assert_eq!(held("public", ""), Ok(()));
    assert_eq!(held("password", "password"), Ok(()));
    assert_eq!(held("email-domain", "auth_email_domains"), Ok(()));
    insta::assert_snapshot!(held("password", "").unwrap_err(), @"`password` must be given when `access_type` is `password`");
    insta::assert_snapshot!(held("email-domain", "password").unwrap_err(), @"`auth_email_domains` must be given when `access_type` is `email-domain`");
}

#[test]
fn exactly_one_provider_block_is_required() {
    // spec: §2.4
    let kinds: Vec<_> = tables::NOTIFICATION.blocks.iter().map(|block| block.name).collect();
    let held = |kind: &'static str, given: &dyn Fn(&str) -> bool| {
        let mut validator = Validator::new(&tables::NOTIFICATION);
        validator.check_rules(|_| Some(kind), given);
        validator.finish(Some(())).map_err(|violations| violations.0)
    };
    for kind in &kinds {
        assert_eq!(held(kind, &|block| block == *kind), Ok(()));
        let none = held(kind, &|_| false).unwrap_err();
        assert_eq!((none.len(), none[0].field.as_str()), (1, *kind));
        let both = held(kind, &|_| true).unwrap_err();
        assert_eq!(both.len(), kinds.len() - 1);
    }
}

#[test]
fn rules_name_existing_fields() {
    for resource in all() {
        for rule in resource.rules {
            match *rule {
                Rule::RequiredWhen { field, when, is } => {
                    assert_eq!(resource.field(field).name, field);
                    assert!(has_word(resource.field(when), is), "`{when}` may be `{is}`");
                }
                Rule::Together { first, second } => {
                    assert_eq!(resource.field(first).name, first);
                    assert_eq!(resource.field(second).name, second);
                }
                Rule::ExactlyOneBlock { named_by } => {
                    let named = |block: &Block| has_word(resource.field(named_by), block.name);
                    assert!(resource.blocks.iter().all(named), "`{named_by}` names each block");
                }
            }
        }
    }
}

fn has_word(field: &Field, word: &str) -> bool {
    matches!(field.shape, Shape::OneOf(words) if words.contains(&word))
}

#[test]
fn ids_are_sorted_unique_and_prefixed() {
    // spec: §2.4
    let read = |ids: &[&str]| {
        let mut validator = Validator::new(&tables::NOTIFICATION);
        let ids = validator.id_set("monitor_ids", ids.iter().map(ToString::to_string).collect());
        validator.finish(Some(ids))
    };
    assert_eq!(read(&["mon_2", "mon_1", "mon_2"]), Ok(vec!["mon_1".into(), "mon_2".into()]));
    for bad in ["", "mon_", "page_1", "1", "mon_1/..", "mon_é"] {
        assert!(read(&[bad]).is_err(), "{bad}");
    }
}

#[test]
fn email_domains_are_a_limited_list() {
    // spec: §2.5
    let read = |domains: Vec<String>| {
        let mut validator = Validator::new(&tables::STATUS_PAGE);
        let domains = validator.domains("auth_email_domains", domains);
        validator.finish(Some(domains)).map_err(|violations| violations.0[0].field.clone())
    };
    let domains = vec!["b.example".to_owned(), "a.example".to_owned()];
    assert_eq!(read(domains.clone()), Ok(domains));
    assert!(read(vec!["a.example".to_owned(); 100]).is_ok());
    assert_eq!(read(vec!["a.example".to_owned(); 101]), Err("auth_email_domains".to_owned()));
    let spoilt = vec!["a.example".to_owned(), "@a.example".to_owned()];
    assert_eq!(read(spoilt), Err("auth_email_domains[1]".to_owned()));
}
