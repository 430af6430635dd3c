//! Makes a draft valid where that loses little: shortens names, and drops single headers, assertions
//! and tags that the tables do not allow. Everything it drops is noted in the entry.

use std::collections::{BTreeMap, BTreeSet};

use rules::monitor::{CheckDraft, MonitorDraft};
use rules::{Tag, Violations, tables};

use crate::convert::{chars_max, tag_limits};
use crate::preview::Entry;
use crate::text;

/// Remedy for a value that the tables do not allow.
const REMEDY: &str = "change it in the source, or add a valid value to the configuration";

/// Returns the draft if it is valid, or can be made so. Otherwise the entry has the reasons.
pub(crate) fn monitor(mut draft: MonitorDraft, entry: &mut Entry) -> Option<MonitorDraft> {
    draft.name = Some(name(draft.name.as_deref().unwrap_or_default(), chars_max("name"), entry));
    draft.description = draft.description.and_then(|text| description(&text, entry));
    draft.tags = tags(std::mem::take(&mut draft.tags), entry);
    limit_blocks(&mut draft.check, entry);
    let Err(violations) = draft.clone().parse() else { return Some(draft) };
    let dropped = drop_invalid(&mut draft.check, &violations);
    if dropped.is_empty() {
        refuse(&violations, entry);
        return None;
    }
    for path in dropped {
        entry.lose(path, REMEDY);
    }
    match draft.clone().parse() {
        Ok(_) => Some(draft),
        Err(violations) => {
            refuse(&violations, entry);
            None
        }
    }
}

/// Notes why an object cannot be imported.
pub(crate) fn refuse(violations: &Violations, entry: &mut Entry) {
    for violation in &violations.0 {
        entry.lose(violation.to_string(), REMEDY);
    }
}

/// Returns a name in one line of at most `max` characters.
pub(crate) fn name(raw: &str, max: usize, entry: &mut Entry) -> String {
    let line = text::one_line(raw);
    let line = if line.is_empty() { "unnamed".to_owned() } else { line };
    let kept = text::shortened(&line, max);
    if kept != raw.trim() {
        let why = format!("a name has one line of 1 to {max} characters");
        entry.change("name", raw, &kept, why);
    }
    kept
}

/// Returns a description of allowed length, or `None` if it is empty.
pub(crate) fn description(raw: &str, entry: &mut Entry) -> Option<String> {
    let max = chars_max("description");
    let kept = text::shortened(&raw.replace('\0', ""), max);
    if kept != raw {
        entry.change("description", raw, &kept, format!("a description has {max} characters"));
    }
    (!kept.trim().is_empty()).then_some(kept)
}

/// Returns the tags that the tables allow, without repetitions.
fn tags(given: Vec<String>, entry: &mut Entry) -> Vec<String> {
    let (most, chars_max) = tag_limits();
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for raw in given {
        let clean = text::shortened(&text::one_line(&raw.replace(',', " ")), chars_max);
        let clean = clean.trim().to_owned();
        if clean != raw {
            entry.change(
                "tags",
                &raw,
                &clean,
                format!("a tag has {chars_max} characters, no comma"),
            );
        }
        match Tag::parse(&clean) {
            Ok(tag) if kept.len() < most => {
                if seen.insert(tag.key()) {
                    kept.push(clean);
                }
            }
            Ok(_) => entry.lose(format!("tag `{clean}`"), format!("a monitor has {most} tags")),
            Err(_) => {}
        }
    }
    kept
}

/// Drops headers and assertions beyond the limits of their blocks.
fn limit_blocks(check: &mut CheckDraft, entry: &mut Entry) {
    let kind = check.kind();
    let mut cut = |name: &'static str, count: usize| {
        let max = tables::monitor(kind).block(name).max.map_or(usize::MAX, |max| max as usize);
        if count > max {
            let what = format!("{} of {count} {name}", count - max);
            entry.lose(what, format!("a monitor has {max}; split it into two monitors"));
        }
        max
    };
    match check {
        CheckDraft::Http(http) => {
            http.headers.truncate(cut("headers", http.headers.len()));
            let count = http.status_code_assertions.len();
            http.status_code_assertions.truncate(cut("status_code_assertions", count));
            http.body_assertions.truncate(cut("body_assertions", http.body_assertions.len()));
            http.json_assertions.truncate(cut("json_assertions", http.json_assertions.len()));
            http.header_assertions.truncate(cut("header_assertions", http.header_assertions.len()));
        }
        CheckDraft::Tcp(_) | CheckDraft::Heartbeat(_) => {}
        CheckDraft::Dns(dns) => {
            dns.record_assertions.truncate(cut("record_assertions", dns.record_assertions.len()));
        }
    }
}

/// Drops the items of blocks that a violation names. Returns the violations in words.
fn drop_invalid(check: &mut CheckDraft, violations: &Violations) -> Vec<String> {
    let mut invalid: BTreeMap<(&str, usize), String> = BTreeMap::new();
    for violation in &violations.0 {
        if let Some(item) = item_of(&violation.field) {
            invalid.entry(item).or_insert_with(|| violation.to_string());
        }
    }
    // From the last one, so that the positions of the others stay right.
    let dropped = invalid.iter().rev().filter(|((block, index), _)| remove(check, block, *index));
    dropped.map(|(_, words)| words.clone()).collect()
}

/// Returns block and position of a path such as `headers[2].key`.
fn item_of(path: &str) -> Option<(&str, usize)> {
    let (block, rest) = path.split_once('[')?;
    let (index, _) = rest.split_once(']')?;
    Some((block, index.parse().ok()?))
}

fn remove(check: &mut CheckDraft, block: &str, index: usize) -> bool {
    fn take<T>(items: &mut Vec<T>, index: usize) -> bool {
        if index < items.len() {
            items.remove(index);
            return true;
        }
        false
    }
    match (check, block) {
        (CheckDraft::Http(http), "headers") => take(&mut http.headers, index),
        (CheckDraft::Http(http), "status_code_assertions") => {
            take(&mut http.status_code_assertions, index)
        }
        (CheckDraft::Http(http), "body_assertions") => take(&mut http.body_assertions, index),
        (CheckDraft::Http(http), "json_assertions") => take(&mut http.json_assertions, index),
        (CheckDraft::Http(http), "header_assertions") => take(&mut http.header_assertions, index),
        (CheckDraft::Dns(dns), "record_assertions") => take(&mut dns.record_assertions, index),
        (
            CheckDraft::Http(_)
            | CheckDraft::Tcp(_)
            | CheckDraft::Dns(_)
            | CheckDraft::Heartbeat(_),
            _,
        ) => false,
    }
}
