//! Checks all rules of the service at plan time: `rules` parses the configuration exactly as the service does, with
//! placeholders for unknown values. Violations of placeholders are left to the next plan, or to the service.

mod arguments;
mod placeholder;

use rules::field::Resource;
use rules::{Violation, Violations};
use terraform_plugin::{Diagnostic, Diagnostics, Object, Path, Step, Value};

pub(crate) use self::arguments::check_arguments;
use self::placeholder::Filled;
pub(crate) use self::placeholder::is_mocked;
use crate::service::Service;
use crate::wire;
use crate::write_only::{self, WriteOnlyArgument};

/// Returns the problems of a configuration.
pub fn problems(table: &'static Resource, service: &Service, config: &Object) -> Diagnostics {
    let mut merged = config.clone();
    let mut found = Diagnostics::new();
    for twin in write_only::for_resource(table) {
        found.extend(check_pairing(twin, config));
        twin.merge(&mut merged);
    }
    let Filled { object, unknown, violations: refused } = placeholder::fill_unknown(table, &merged);
    let Violations(violations) = (service.validate)(wire::encode(table, &object));
    let at = |violation: &Violation| wire::parse_path(&violation.field);
    let known =
        |path: &Path| !unknown.iter().any(|unknown| path.steps().starts_with(unknown.steps()));
    let reported = violations.into_iter().filter(|violation| known(&at(violation)));
    for violation in reported.chain(refused) {
        let path = configured_path(table, config, at(&violation));
        found.push(to_diagnostic(&violation, path));
    }
    found.extend(warn_duplicate_headers(&object));
    found
}

/// Returns the diagnostic of a violation.
pub fn to_diagnostic(violation: &Violation, path: Path) -> Diagnostic {
    let named = path.steps().iter().rev().find_map(|step| match step {
        Step::Name(name) => Some(name.as_str()),
        Step::Index(_) | Step::Key(_) | Step::Element => None,
    });
    let summary = format!("Invalid {}", named.unwrap_or("value"));
    let diagnostic = Diagnostic::error(summary, sentence(&violation.to_string()));
    if path.steps().is_empty() { diagnostic } else { diagnostic.at(path) }
}

fn sentence(text: &str) -> String {
    format!("{text}.")
}

/// Checks that a secret is given under one name, and that a write-only one has its version.
fn check_pairing(twin: &WriteOnlyArgument, config: &Object) -> Option<Diagnostic> {
    let object = twin.containing_object(config)?;
    let path = twin.parent();
    let (kept, write_only, version) = (twin.field, twin.argument_name(), twin.version_name());
    let given = |name: &str| !object.value(name).is_null();
    let (name, detail) = if given(kept) && given(&write_only) {
        (write_only.clone(), format!("`{kept}` and `{write_only}` must not be given together."))
    } else if given(&write_only) && !given(&version) {
        let detail =
            format!("`{version}` must be given with `{write_only}`: any number, such as 1.");
        (write_only.clone(), detail)
    } else if given(&version) && !given(&write_only) {
        (version.clone(), format!("`{version}` must only be given with `{write_only}`."))
    } else {
        return None;
    };
    Some(Diagnostic::error(format!("Invalid {name}"), detail).at(path.name(name)))
}

/// Returns the path of a secret under the name by which it was given.
fn configured_path(table: &Resource, config: &Object, path: Path) -> Path {
    for twin in write_only::for_resource(table) {
        let parent = twin.parent();
        let object = twin.containing_object(config);
        let write_only =
            object.is_some_and(|object| !object.value(&twin.argument_name()).is_null());
        if write_only && path == parent.name(twin.field) {
            return parent.name(twin.argument_name());
        }
    }
    path
}

/// Warns of duplicate headers: both are sent, which is rarely meant.
fn warn_duplicate_headers(config: &Object) -> Vec<Diagnostic> {
    let webhook = config.value("webhook").elements().first().and_then(Value::as_object);
    let blocks = [
        (Path::from("headers"), config.value("headers")),
        (
            Path::from("webhook").index(0).name("headers"),
            webhook.map_or(&Value::Null, |webhook| webhook.value("headers")),
        ),
    ];
    let mut found = Vec::new();
    for (path, headers) in blocks {
        let keys =
            headers.elements().iter().map(|header| header.as_object()?.value("key").as_str());
        let keys: Vec<_> = keys.collect();
        for (at, key) in keys.iter().enumerate() {
            let Some(key) = key else { continue };
            let same = |other: Option<&str>| other.is_some_and(|it| it.eq_ignore_ascii_case(key));
            if let Some(first) = keys[..at].iter().position(|other| same(*other)) {
                let detail = format!(
                    "`{key}` is also the name of block {} of `{path}`. Both are sent.",
                    first + 1
                );
                let summary = "Duplicate header";
                found.push(Diagnostic::warning(summary, detail).at(path.index(at).name("key")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
