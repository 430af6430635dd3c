//! Fills in the hand-written pages next to this file: replaces `{{name}}` by generated tables.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use rules::{Reason, Region, RegionGroup, limits};

use super::Book;
use super::contract::{Level, Method};
use super::prose::{anchor, codes, table};
use super::service::ServicePage;
use super::{limits as limit, values};

/// Pages and their texts.
const TEXTS: [(&str, &str); 8] = [
    ("README.md", include_str!("pages/README.md")),
    ("authentication.md", include_str!("pages/authentication.md")),
    ("calling.md", include_str!("pages/calling.md")),
    ("errors.md", include_str!("pages/errors.md")),
    ("limits.md", include_str!("pages/limits.md")),
    ("regions.md", include_str!("pages/regions.md")),
    ("v1.md", include_str!("pages/v1.md")),
    ("values.md", include_str!("pages/values.md")),
];

/// Returns all pages by name.
pub(super) fn all(book: &Book) -> Result<BTreeMap<String, String>> {
    let filled = |(name, text): (&str, &str)| Ok((name.to_owned(), fill(book, name, text)?));
    TEXTS.into_iter().map(filled).collect()
}

fn fill(book: &Book, page: &str, text: &str) -> Result<String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            bail!("{page}: `{{{{` has no end")
        };
        result = result + before + &generated(book, page, name)?;
        rest = after;
    }
    Ok(result + rest)
}

/// Generates the text for a name.
fn generated(book: &Book, page: &str, name: &str) -> Result<String> {
    Ok(match (page, name) {
        ("README.md", "services") => services(book),
        ("authentication.md", "reads") => {
            by_service(book, "A key with the scope `read` may call:", |method| {
                method.level == Level::Reads
            })
        }
        ("authentication.md", "keys") => reasons_of_keys(),
        ("calling.md", "idempotent") => {
            by_service(book, "These methods accept the header:", |method| {
                method.level == Level::Once
                    && ServicePage::for_method(book, method).takes_key(&method.comment)
            })
        }
        ("errors.md", "reasons") => reasons(),
        ("errors.md", "codes") => code_table(),
        ("limits.md", "limits") => limit::sections()?,
        ("limits.md", "contents") => limit::contents()?,
        ("regions.md", "regions") => regions(),
        ("values.md", "values") => values::sections(),
        ("values.md", "contents") => values::contents(),
        (_, "message-megabytes") => (limits::MESSAGE_BYTES_MAX / (1024 * 1024)).to_string(),
        (_, "list-min") => limits::LIST_LIMIT_MIN.to_string(),
        (_, "list-max") => limits::LIST_LIMIT_MAX.to_string(),
        (_, "list-default") => limits::LIST_LIMIT_DEFAULT.to_string(),
        (_, "idempotency-characters") => limits::IDEMPOTENCY_KEY_CHARS_MAX.to_string(),
        (_, "violations") => limits::VIOLATIONS_MAX.to_string(),
        (_, "private-region-count") => (Region::ALL.len() - Region::PUBLIC.len()).to_string(),
        (_, "region-count") => Region::PUBLIC.len().to_string(),
        (_, "calls-per-second") => limit::thousands(limits::CALLS_PER_SECOND_DEFAULT.into()),
        (_, "calls-burst") => limit::thousands(limits::CALLS_BURST_DEFAULT.into()),
        _ => bail!("{page}: unknown placeholder `{name}`"),
    })
}

fn services(book: &Book) -> String {
    let row = |page: ServicePage<'_>| {
        let link = format!("[{}]({}.md)", page.title(), page.package());
        vec![link, format!("`{}`", page.package()), page.sentence()]
    };
    let rows: Vec<_> =
        book.contract.services.iter().map(|service| row(ServicePage::new(book, service))).collect();
    table(&["Service", "Package", "Description"], &rows)
}

/// Lists methods by service, each as a link.
fn by_service(book: &Book, opening: &str, wanted: impl Fn(&Method) -> bool) -> String {
    let mut text = format!("{opening}\n\n");
    for service in &book.contract.services {
        let own = service.methods.iter().filter(|method| wanted(method));
        let links: Vec<_> = own.map(|method| link(&service.package, method)).collect();
        if !links.is_empty() {
            text += &format!("- `{}.{}`: {}\n", service.package, service.name, links.join(", "));
        }
    }
    text
}

fn link(package: &str, method: &Method) -> String {
    format!("[{}]({package}.md#{})", method.name, anchor(&method.name))
}

fn reasons_of_keys() -> String {
    let of_keys = Reason::ALL.iter().filter(|it| matches!(it.status(), 401 | 403));
    let row = |reason: &Reason| {
        format!("| {} | `{reason}` | {} {} |\n", reason.status(), reason.meaning(), reason.help())
    };
    of_keys.map(row).collect()
}

fn reasons() -> String {
    let row = |reason: &Reason| {
        vec![
            format!("`{reason}`"),
            reason.status().to_string(),
            format!("`{}`", reason.code()),
            reason.meaning().to_owned(),
            reason.help().to_owned(),
        ]
    };
    let rows: Vec<_> = Reason::ALL.iter().map(row).collect();
    table(&["Reason", "Status", "Code", "Meaning", "Fix"], &rows)
}

fn code_table() -> String {
    let mut found: Vec<&str> = Vec::new();
    for reason in Reason::ALL {
        if !found.contains(&reason.code()) {
            found.push(reason.code());
        }
    }
    let rows = found.into_iter().map(|code| {
        let own = || Reason::ALL.iter().filter(|reason| reason.code() == code);
        let mut statuses: Vec<String> = own().map(|reason| reason.status().to_string()).collect();
        statuses.dedup();
        vec![format!("`{code}`"), statuses.join(", "), codes(own().map(|reason| reason.as_str()))]
    });
    let rows: Vec<_> = rows.collect();
    table(&["Code", "Status", "Reasons"], &rows)
}

fn regions() -> String {
    let section = |group: &RegionGroup| {
        let own = Region::ALL.iter().filter(|region| region.group() == *group);
        let rows: Vec<_> = own
            .map(|region| {
                let place = region.location();
                vec![format!("`{region}`"), place.city.to_owned(), place.country.to_owned()]
            })
            .collect();
        let head = ["Region", "City", "Country"];
        format!("## Group {group}\n\n{} regions.\n\n{}", rows.len(), table(&head, &rows))
    };
    let public = RegionGroup::ALL.iter().filter(|group| **group != RegionGroup::Private);
    public.map(section).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}
