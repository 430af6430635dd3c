//! Generates the errors of a method: codes, their reasons, and conditions.

use rules::Reason;

use super::ServicePage;
use crate::reference::comment::{Clause, capitalised, parse_method, referenced_method};
use crate::reference::contract::Method;
use crate::reference::prose::{codes, table};

/// Maximum length of a chain of methods that refer to each other for their errors.
const DEPTH_MAX: usize = 4;
/// Begins a condition that adds to the meaning of a code.
const INCLUDING: &str = "including ";

impl ServicePage<'_> {
    /// Returns the method's own errors, apart from those of every call.
    pub(super) fn errors(&self, method: &Method) -> String {
        let mut known: Vec<(String, String)> = Vec::new();
        self.collect_errors(method, DEPTH_MAX, &mut known);
        if known.is_empty() {
            return "\n**Errors.** Only those of [every call](errors.md#errors-of-every-call).\n"
                .to_owned();
        }
        let rows: Vec<_> = known.iter().map(|(code, when)| self.error_row(code, when)).collect();
        let table = table(&["Code", "Reason", "When"], &rows);
        format!(
            "\n**Errors**, in addition to those of [every call](errors.md#errors-of-every-call)\n\n{table}"
        )
    }

    /// Returns the errors that are a method's own: their reasons, and the condition in words.
    pub(in crate::reference) fn own_errors(&self, method: &Method) -> Vec<(Vec<Reason>, String)> {
        let mut known: Vec<(String, String)> = Vec::new();
        self.collect_errors(method, DEPTH_MAX, &mut known);
        known.into_iter().map(|(code, when)| (reasons(&code, &when), when)).collect()
    }

    fn collect_errors(&self, method: &Method, depth: usize, known: &mut Vec<(String, String)>) {
        let doc = parse_method(&method.comment);
        let other = |name: &str| self.find(name).filter(|_| depth > 0);
        let mut referred_to = Vec::new();
        for clause in doc.errors {
            match clause {
                Clause::Code { code, when } if known.iter().all(|(it, _)| *it != code) => {
                    known.push((code, when));
                }
                Clause::Code { .. } => {}
                Clause::As(name) => referred_to.extend(other(&name)),
            }
        }
        if known.is_empty() && referred_to.is_empty() {
            referred_to.extend(referenced_method(&method.comment).and_then(other));
        }
        for method in referred_to {
            self.collect_errors(method, depth - 1, known);
        }
    }

    fn error_row(&self, code: &str, when: &str) -> Vec<String> {
        let usual = usual_reason(code);
        let reasons = codes(reasons(code, when).iter().map(|reason| reason.as_str()));
        // A condition that narrows a code replaces its meaning. One that extends it follows the
        // meaning.
        let included = when.strip_prefix(INCLUDING).map(|rest| format!("This includes {rest}"));
        let adds = when.is_empty() || included.is_some() || when.starts_with("with");
        let meaning = usual.filter(|_| adds).map_or("", |reason| reason.meaning());
        let more = included.unwrap_or_else(|| capitalised(when));
        let more = if more.is_empty() { more } else { more + "." };
        let status = usual.map_or_else(String::new, |reason| format!(" ({})", reason.status()));
        vec![
            format!("`{code}`{status}"),
            reasons,
            format!("{meaning} {}", self.format_text(&more)).trim().to_owned(),
        ]
    }
}

/// Returns the reasons of a code: the default, and those that the condition names.
fn reasons(code: &str, when: &str) -> Vec<Reason> {
    let named = Reason::ALL.iter().copied().filter(|reason| when.contains(reason.as_str()));
    usual_reason(code).into_iter().chain(named).collect()
}

/// Returns the default reason of a code.
fn usual_reason(code: &str) -> Option<Reason> {
    let word = if code == "aborted" { "conflict" } else { code };
    Reason::ALL.iter().copied().find(|reason| reason.as_str().to_lowercase() == word)
}
