//! Formats examples: the same request as curl, as TypeScript and, if applicable, as Terraform, and
//! its response.

mod literal;
mod terraform;

use serde_json::Value;

use super::contract::Method;
use super::prose::camel;
use super::scenario::Example;

pub(super) use literal::{Form, WIDTH, holds_objects, shortened, written};
pub(super) use terraform::{Terraform, page_of};

/// Maximum number of names that an example destructures from a response.
const NAMES_MAX: usize = 3;

/// Formats a call with curl.
pub(super) fn curl(method: &Method, example: &Example) -> String {
    let body = written(&example.request, Form::Json, 0).replace('\'', r"'\''");
    format!(
        "curl \"$SERVICE_API_URL/{}\" \\\n  -H \"x-service-key: $SERVICE_API_KEY\" \\\n  \
         -H \"content-type: application/json\" \\\n  -d '{body}'\n",
        method.path()
    )
}

/// Formats a call with the client.
pub(super) fn typescript(method: &Method, example: &Example, answered: &[&str]) -> String {
    let (package, service) = method.service.rsplit_once('.').unwrap_or(("", &method.service));
    let mut name = method.name.clone();
    name[..1].make_ascii_lowercase();
    let looked_at = example.looked_at.iter().map(String::as_str);
    let mut names: Vec<&str> = looked_at.filter(|name| answered.contains(name)).collect();
    if names.is_empty() {
        names = answered.iter().copied().take(NAMES_MAX).collect();
    }
    let taken = match names.as_slice() {
        [] => String::new(),
        names => format!("const {{ {} }} = ", names.join(", ")),
    };
    let call = format!("{taken}await client.{}.{service}.{name}(", camel(package));
    let request = written(&example.request, Form::TypeScript, call.chars().count());
    format!("{call}{request});\n")
}

/// Formats a shortened response.
pub(super) fn answer(value: &Value) -> String {
    written(&shortened(value), Form::Json, 0) + "\n"
}
