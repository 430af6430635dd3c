//! Compares the tables of `rules` with the facts of the specification in both directions. Also
//! compares the file of facts with the specification's own tables, if that is beside the checkout.

#[path = "facts/file.rs"]
mod file;
#[path = "facts/markdown.rs"]
mod markdown;
#[path = "facts/table.rs"]
mod table;

use std::path::Path;

use aloft_rules::{Periodicity, Region, RegionGroup, field, limits, tables};

use file::{Block, Facts, Ours, Resource, Row};

/// Path of the specification, relative to the workspace's root.
const SPECIFICATION: &str = "../shared/spec/000_b809244f4d5dfb6a.txt";

#[test]
fn tables_match_the_facts_exactly() {
    // spec: §2.1–2.8
    let facts = Facts::read();
    let mut expected: Vec<_> = facts.resource.iter().chain(&facts.data_source).cloned().collect();
    for ours in &facts.ours {
        for path in &ours.fields {
            let found = expected
                .iter_mut()
                .map(|resource| u32::from(apply(ours, resource, path)))
                .sum::<u32>();
            assert_eq!(found, 1, "`{path}` ({}) is one field", ours.why);
        }
    }
    let is_specified =
        |it: &&field::Resource| !facts.own_resources.iter().any(|own| own == it.name);
    let all = tables::RESOURCES.iter().chain(&tables::DATA_SOURCES).copied();
    let all: Vec<&field::Resource> = all.filter(is_specified).collect();
    let actual: Vec<_> = all
        .iter()
        .zip(&expected)
        .map(|(resource, expected)| table::facts(&expected.section, resource))
        .collect();
    assert_eq!(all.len(), expected.len(), "seven resources and four data sources");
    for own in facts.own_arguments.iter().chain(&facts.own_outputs) {
        let is_known =
            all.iter().any(|it| own.split_once('.').is_some_and(|(of, _)| of == it.name));
        assert!(is_known, "`{own}` begins with a resource");
    }
    for (mut actual, mut expected) in actual.into_iter().zip(expected) {
        without_own_arguments(&facts.own_arguments, &mut actual);
        without_own_blocks(&facts.own_blocks, &mut actual);
        without_own_comparators(&facts.own_comparators, &mut actual);
        without_own_outputs(&facts.own_outputs, &mut actual);
        without_own_kinds(&facts.own_channel_kinds, &mut actual);
        without_own_monitor_kinds(&facts.own_monitor_kinds, &mut actual);
        without_private_regions(&mut actual);
        never_empty(&mut expected.arguments, &mut expected.blocks);
        for (expected, actual) in expected.outputs.iter_mut().zip(&actual.outputs) {
            // The specification does not define the types of most outputs.
            expected.kind = expected.kind.take().or_else(|| actual.kind.clone());
            if expected.words.is_empty() {
                expected.words.clone_from(&actual.words);
            }
        }
        assert_same(&actual, &expected);
    }
}

#[test]
fn tables_have_the_limits_of_section_8_1() {
    // spec: §8.1
    let facts = Facts::read();
    let resources: Vec<_> = tables::RESOURCES
        .iter()
        .chain(&tables::DATA_SOURCES)
        .map(|resource| table::facts("", resource))
        .collect();
    for limit in &facts.limit {
        assert!(!limit.fields.is_empty(), "{}", limit.item);
        for path in &limit.fields {
            let row = resources
                .iter()
                .find_map(|resource| bounds(resource, path))
                .unwrap_or_else(|| panic!("`{path}` of `{}` is a field or block", limit.item));
            assert_eq!(row.max_chars, limit.max_chars, "{path}");
            if limit.min_chars.is_some() {
                assert_eq!(row.min_chars, limit.min_chars, "{path}");
            }
            assert_eq!((row.min, row.max), (limit.min, limit.max), "{path}");
            if limit.default.is_some() {
                assert_eq!(row.default, limit.default, "{path}");
            }
        }
    }
}

#[test]
fn names_and_regions_match_the_specification() {
    // spec: §8.2, §8.3
    let facts = Facts::read();
    assert_eq!(Periodicity::WORDS, facts.periodicities);
    assert_eq!(Region::PUBLIC_WORDS, facts.regions());
    assert_eq!(Region::PUBLIC.len(), 28);
    for (group, expected) in RegionGroup::ALL.iter().zip(&facts.region_group) {
        let of_group = Region::ALL.iter().filter(|region| region.group() == *group);
        let words: Vec<_> = of_group.map(|region| region.as_str()).collect();
        assert_eq!(words, expected.regions, "group {}", expected.name);
    }
    assert_eq!(
        (limits::LIST_LIMIT_MIN, limits::LIST_LIMIT_MAX, limits::LIST_LIMIT_DEFAULT),
        (1, 100, 50),
    );
}

#[test]
fn facts_match_the_specification_tables() {
    // spec: §2, §8
    let facts = Facts::read();
    // The numbers stated in the specification, checked even without its file.
    assert_eq!((facts.resource.len(), facts.data_source.len()), (7, 4));
    let groups: Vec<_> = facts.region_group.iter().map(|group| group.regions.len()).collect();
    assert_eq!(groups, [18, 6, 4]);
    assert_eq!(facts.resource[3].blocks.len(), 12, "12 kinds of provider");

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(text) = std::fs::read_to_string(root.join(SPECIFICATION)) else { return };
    let specification = markdown::Specification::read(&text);
    for (expected, actual) in specification.resources.iter().zip(&facts.resource) {
        assert_same(actual, expected);
    }
    for (expected, actual) in specification.data_sources.iter().zip(&facts.data_source) {
        assert_same(actual, expected);
    }
    assert_eq!(specification.resources.len(), facts.resource.len());
    assert_eq!(specification.data_sources.len(), facts.data_source.len());
    for (expected, actual) in specification.limits.iter().zip(&facts.limit) {
        assert_eq!(&file::Limit { fields: vec![], ..actual.clone() }, expected);
    }
    assert_eq!(specification.limits.len(), facts.limit.len());
    assert_eq!(specification.periodicities, facts.periodicities);
    assert_eq!(specification.region_groups, facts.region_group);
}

#[test]
fn every_field_has_a_description() {
    let all = tables::RESOURCES.iter().chain(&tables::DATA_SOURCES);
    for resource in all.chain([&&tables::WORKSPACE, &&tables::KEY, &&tables::MAINTENANCE]) {
        let blocks =
            resource.blocks.iter().flat_map(|block| std::iter::once(block).chain(block.blocks));
        let fields = resource.fields.iter().chain(resource.beyond);
        for field in fields.chain(blocks.flat_map(|block| block.fields)) {
            let words = field.description.split(' ').count();
            assert!(words >= 3 && field.description.ends_with('.'), "{}: {field:?}", resource.name);
        }
    }
}

/// Removes the arguments beyond the specification, each of which must exist.
fn without_own_arguments(own: &[String], resource: &mut Resource) {
    let names = own.iter().filter_map(|it| it.split_once('.'));
    let names: Vec<_> =
        names.filter(|(of, _)| *of == resource.name).map(|(_, name)| name).collect();
    let has = |name: &str| resource.arguments.iter().any(|row| row.name == name);
    assert!(names.iter().all(|name| has(name)), "{names:?}");
    resource.arguments.retain(|row| !names.contains(&row.name.as_str()));
}

/// Removes the blocks beyond the specification, each of which must exist.
fn without_own_blocks(own: &[String], resource: &mut Resource) {
    let names = own.iter().filter_map(|it| it.split_once('.'));
    for (_, name) in names.filter(|(of, _)| *of == resource.name) {
        let before = resource.blocks.len();
        resource.blocks.retain(|block| block.name != name);
        assert_eq!(resource.blocks.len(), before - 1, "`{name}` is a block of {}", resource.name);
    }
}

/// Removes our own comparators, which must be in the tables.
fn without_own_comparators(own: &[String], resource: &mut Resource) {
    let texts = ["body_assertions", "header_assertions"];
    let blocks = resource.blocks.iter_mut().filter(|block| texts.contains(&&*block.name));
    for row in blocks.flat_map(|block| &mut block.fields).filter(|row| row.name == "comparator") {
        assert!(own.iter().all(|word| row.words.contains(word)), "{own:?}");
        row.words.retain(|word| !own.contains(word));
    }
}

/// Removes the outputs beyond the specification, and those in the objects of a list. Each must exist.
fn without_own_outputs(own: &[String], resource: &mut Resource) {
    let names = own.iter().filter_map(|it| it.split_once('.'));
    for (_, name) in names.filter(|(of, _)| *of == resource.name) {
        let before = resource.outputs.clone();
        if let Some((list, name)) = name.split_once('.') {
            let lists = resource.outputs.iter_mut().filter(|row| row.name == list);
            lists.for_each(|row| row.objects.retain(|field| field != name));
        } else {
            resource.outputs.retain(|row| row.name != name);
        }
        assert_ne!(resource.outputs, before, "`{name}` is an output of {}", resource.name);
    }
}

/// Removes private regions and their group, which are ours and must be in the tables.
fn without_private_regions(resource: &mut Resource) {
    let own = |word: &String| word.starts_with("private");
    let rows = resource.arguments.iter_mut().chain(&mut resource.outputs);
    for row in rows.filter(|row| row.words.iter().any(own)) {
        let before = row.words.len();
        row.words.retain(|word| !own(word));
        assert!([1, 16].contains(&(before - row.words.len())), "{}", row.name);
    }
}

/// Removes our own kinds of channels, which must be in the tables.
fn without_own_kinds(kinds: &[String], resource: &mut Resource) {
    let rows = resource.arguments.iter_mut().chain(&mut resource.outputs);
    for row in rows.filter(|row| row.name == "provider_type") {
        assert!(kinds.iter().all(|kind| row.words.contains(kind)), "{kinds:?}");
        row.words.retain(|word| !kinds.contains(word));
    }
    resource.blocks.retain(|block| !kinds.contains(&block.name));
}

fn without_own_monitor_kinds(kinds: &[String], resource: &mut Resource) {
    let rows = resource.arguments.iter_mut().chain(&mut resource.outputs);
    for row in rows.filter(|row| row.name == "type") {
        row.words.retain(|word| !kinds.contains(word));
    }
}

/// Compares row by row, so that a failure names the row.
fn assert_same(actual: &Resource, expected: &Resource) {
    let name = &expected.name;
    for (actual, expected) in
        [(&actual.arguments, &expected.arguments), (&actual.outputs, &expected.outputs)]
    {
        for (actual, expected) in actual.iter().zip(expected) {
            assert_eq!(actual, expected, "{name}");
        }
    }
    for (actual, expected) in actual.blocks.iter().zip(&expected.blocks) {
        assert_eq!(actual, expected, "{name}");
    }
    assert_eq!(actual, expected, "{name}");
}

/// Sets the minimum length of required texts, except for an assertion's target and a header's value
/// (design §4).
fn never_empty(rows: &mut [Row], blocks: &mut [Block]) {
    for row in rows {
        let text = row.kind.as_deref() == Some("string") && row.words.is_empty();
        let id = row.form.as_deref().is_some_and(|form| form.starts_with("id "));
        let may_be_empty = ["target", "value"].contains(&row.name.as_str());
        if row.required && text && !id && !may_be_empty {
            row.min_chars.get_or_insert(1);
        }
    }
    for block in blocks {
        never_empty(&mut block.fields, &mut block.blocks);
    }
}

/// Applies one of our rules to the field or block at `path`; returns whether it exists.
fn apply(ours: &Ours, resource: &mut Resource, path: &str) -> bool {
    let Some(path) = path.strip_prefix(&format!("{}.", resource.name)) else { return false };
    let names: Vec<_> = path.split('.').collect();
    let (last, parents) = names.split_last().expect("a path has a last part");
    let mut fields = &mut resource.arguments;
    let mut blocks = &mut resource.blocks;
    for parent in parents {
        let Some(block) = blocks.iter_mut().find(|block| block.name == *parent) else {
            return false;
        };
        fields = &mut block.fields;
        blocks = &mut block.blocks;
    }
    if let Some(block) = blocks.iter_mut().find(|block| block.name == *last) {
        add(&mut block.max, ours.max);
        return true;
    }
    let Some(row) = fields.iter_mut().find(|row| row.name == *last) else { return false };
    row.required |= ours.required;
    add(&mut row.min_chars, ours.min_chars);
    add(&mut row.max_chars, ours.max_chars);
    add(&mut row.min, ours.min);
    add(&mut row.max, ours.max);
    if let Some(form) = &ours.form {
        let narrower = row.form.as_ref().is_none_or(|stated| form.starts_with(stated.as_str()));
        assert!(narrower, "`{path}` does not contradict the specification's format");
        row.form = Some(form.clone());
    }
    true
}

fn add(stated: &mut Option<i64>, ours: Option<i64>) {
    if let Some(ours) = ours {
        assert_eq!(stated.replace(ours), None, "the specification does not set this limit");
    }
}

/// Returns the bounds of the field or block at `path`; for a block, `max` is its count.
fn bounds(resource: &Resource, path: &str) -> Option<Row> {
    let path = path.strip_prefix(&format!("{}.", resource.name))?;
    if let Some(block) = resource.blocks.iter().find(|block| block.name == path) {
        return Some(Row { max: block.max, ..Row::default() });
    }
    let of_block = |(block, field): (&str, &str)| {
        let block = resource.blocks.iter().find(|found| found.name == block)?;
        block.fields.iter().find(|row| row.name == field).cloned()
    };
    match path.split_once('.') {
        Some(names) => of_block(names),
        None => resource.arguments.iter().find(|row| row.name == path).cloned(),
    }
}
