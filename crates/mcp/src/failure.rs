//! The reasons that a call of a tool fails, as a result that a model can act on.

use contract::rpc;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// Failure of a tool.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An argument of the tool itself is missing or wrong.
    Argument { field: String, problem: String },
    /// The key may not call the tool.
    NeedsWriteKey { tool: &'static str },
    /// The contract's error.
    Refused(rpc::Error),
    /// The result is too long for a model.
    TooLong { bytes: usize, most: usize },
    /// A fault of this server.
    Undecodable,
}

impl Failure {
    pub(crate) fn argument(field: &str, problem: impl Into<String>) -> Self {
        Self::Argument { field: field.to_owned(), problem: problem.into() }
    }

    /// Returns the failure for an argument that the tool does not have.
    pub(crate) fn unknown_argument(name: &str, known: &[&str]) -> Self {
        if known.is_empty() {
            return Self::argument(name, "is unknown; this tool has no arguments");
        }
        Self::argument(name, format!("is unknown; expected one of {}", known.join(", ")))
    }

    /// Returns the failure as the result of the tool: a text for the model, and the same as data.
    pub(crate) fn into_result(self) -> CallToolResult {
        let (text, data) = match self {
            Self::Argument { field, problem } => invalid(&field, &problem),
            Self::NeedsWriteKey { tool } => plain(
                "permission_denied",
                "KEY_READ_ONLY",
                &format!(
                    "`{tool}` needs a key with the scope write, and this key has the scope read; connect with a write key"
                ),
            ),
            Self::Refused(error) => refused(&error),
            Self::TooLong { bytes, most } => plain(
                "out_of_range",
                "RESULT_TOO_LONG",
                &format!(
                    "the result has {bytes} bytes, more than the {most} for a tool; ask for less: a smaller `limit`, a filter, or one item by its ID"
                ),
            ),
            Self::Undecodable => {
                plain("internal", "INTERNAL", "the service failed; its log has the cause")
            }
        };
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = Some(data);
        result
    }
}

/// Converts a path in the contract to the names of arguments, such as `monitor_id` to `monitorId`.
pub(crate) fn json_name(path: &str) -> String {
    let mut words = path.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let initial = letters.next().into_iter().flat_map(char::to_uppercase);
        name + &initial.chain(letters).collect::<String>()
    })
}

fn plain(code: &str, reason: &str, message: &str) -> (String, Value) {
    (message.to_owned(), json!({ "code": code, "reason": reason, "message": message }))
}

fn invalid(field: &str, problem: &str) -> (String, Value) {
    let message = format!("`{field}` {problem}");
    let data = json!({
        "code": "invalid_argument",
        "reason": "INVALID_ARGUMENT",
        "message": message,
        "violations": [{ "field": field, "description": problem }],
    });
    (message, data)
}

/// Returns the contract's error with its violations, and the remedy of its reason.
fn refused(error: &rpc::Error) -> (String, Value) {
    let mut message = error.message.clone().unwrap_or_else(|| error.code.as_str().to_owned());
    let word = rpc::reason(error);
    let reason = word.as_deref().and_then(|word| rpc::Reason::parse(word).ok());
    let remedy = reason.map(rpc::Reason::help);
    let mut violations = Vec::new();
    for violation in rpc::field_violations(error) {
        let field = json_name(&violation.field);
        message = message.replace(&format!("`{}`", violation.field), &format!("`{field}`"));
        violations.push(json!({ "field": field, "description": violation.description }));
    }
    let text = match remedy {
        Some(remedy) => format!("{message}. {remedy}"),
        None => message.clone(),
    };
    let mut data = json!({ "code": error.code.as_str(), "reason": word, "message": message });
    if !violations.is_empty() {
        data["violations"] = Value::Array(violations);
    }
    (text, data)
}
