//! A monitor as a block of the Terraform provider. Credentials become variables.

use std::fmt::Write as _;

use contract::hcl::quoted;
use rules::field::{Block, Field, Presence, Resource, Shape, Value, json_name};
use rules::tables;
use serde_json::Value as Json;

use super::stored::StoredMonitor;

/// Headers whose values are no secrets.
const PLAIN_HEADERS: [&str; 7] = [
    "accept",
    "accept-language",
    "cache-control",
    "content-type",
    "origin",
    "referer",
    "user-agent",
];

/// Configuration of a monitor.
struct Configuration {
    /// Name of the resource in Terraform.
    name: String,
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    /// Whether the provider's schema marks the argument as a secret. If it does not, the variable is none
    /// either: after the import, Terraform would plan the difference to the state as a change.
    is_sensitive: bool,
}

/// Returns the configuration of a monitor: variables, the resource and its import.
pub(super) fn configuration(monitor: &StoredMonitor) -> String {
    let table = tables::monitor(monitor.kind);
    let mut this = Configuration { name: local_name(monitor.name()), variables: Vec::new() };
    let fields = this.fields(table.fields, &monitor.json);
    let blocks: Vec<String> =
        table.blocks.iter().flat_map(|block| this.blocks(block, &monitor.json)).collect();
    let (resource, name) = (table.name, &this.name);
    let mut text = String::new();
    for Variable { name, is_sensitive } in &this.variables {
        let body = if *is_sensitive {
            "  type      = string\n  sensitive = true"
        } else {
            "  type = string"
        };
        let _ = writeln!(text, "variable \"{name}\" {{\n{body}\n}}\n");
    }
    let _ = writeln!(text, "resource \"{resource}\" \"{name}\" {{\n{fields}{}}}", blocks.concat());
    let id = monitor.text("id");
    let _ = write!(text, "\nimport {{\n  to = {resource}.{name}\n  id = \"{id}\"\n}}\n");
    text
}

/// Returns the command that imports a monitor.
pub(super) fn import_command(monitor: &StoredMonitor) -> String {
    let resource: &Resource = tables::monitor(monitor.kind);
    let (name, id) = (local_name(monitor.name()), monitor.text("id"));
    format!("terraform import {}.{name} {id}", resource.name)
}

impl Configuration {
    /// Returns the arguments that differ from their defaults, aligned as `terraform fmt` does.
    fn fields(&mut self, fields: &[Field], json: &Json) -> String {
        let given = fields.iter().filter(|field| field.presence != Presence::Output);
        let given: Vec<(&str, String)> = given
            .filter_map(|field| {
                let value = &json[json_name(field.name)];
                let is_given = !value.is_null() && !is_default(field, value);
                is_given.then(|| (field.name, self.value(field, value, json)))
            })
            .collect();
        aligned(&given, "  ")
    }

    fn blocks(&mut self, block: &Block, json: &Json) -> Vec<String> {
        let rows = json[json_name(block.name)].as_array().cloned().unwrap_or_default();
        let row = |row: &Json| {
            let fields = block.fields.iter();
            let given: Vec<(&str, String)> = fields
                .map(|field| (field.name, self.value(field, &row[json_name(field.name)], row)))
                .collect();
            format!("\n  {} {{\n{}  }}\n", block.name, aligned(&given, "    "))
        };
        rows.iter().map(row).collect()
    }

    fn value(&mut self, field: &Field, value: &Json, object: &Json) -> String {
        match (value, field.shape) {
            (Json::String(text), Shape::HeaderValue { .. }) => {
                let key = object["key"].as_str().unwrap_or_default().to_ascii_lowercase();
                if text.is_empty() || PLAIN_HEADERS.contains(&key.as_str()) {
                    return quoted(text);
                }
                format!("var.{}", self.variable(&key, false))
            }
            (Json::String(_), _) if field.sensitive => {
                format!("var.{}", self.variable(field.name, true))
            }
            (Json::String(text), Shape::HttpUrl { .. }) => self.url(text),
            (Json::String(text), _) => quoted(text),
            (Json::Array(all), _) => {
                let all = all.iter().filter_map(Json::as_str).map(quoted);
                format!("[{}]", all.collect::<Vec<_>>().join(", "))
            }
            (other, _) => other.to_string(),
        }
    }

    /// Returns a URL whose credentials are a variable.
    fn url(&mut self, url: &str) -> String {
        let Some((scheme, rest)) = url.split_once("://") else { return quoted(url) };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let Some((_, host)) = rest[..end].rsplit_once('@') else { return quoted(url) };
        let variable = self.variable("credentials", false);
        let rest = quoted(&format!("{host}{}", &rest[end..]));
        format!("\"{scheme}://${{var.{variable}}}@{}", &rest[1..])
    }

    fn variable(&mut self, of: &str, is_sensitive: bool) -> String {
        let start = format!("{}_{}", self.name, local_name(of));
        let is_free = |name: &String| self.variables.iter().all(|known| known.name != *name);
        let numbered = (2_u32..).map(|number| format!("{start}_{number}"));
        let name = std::iter::once(start.clone()).chain(numbered).find(is_free).unwrap_or(start);
        self.variables.push(Variable { name: name.clone(), is_sensitive });
        name
    }
}

fn is_default(field: &Field, value: &Json) -> bool {
    match field.presence {
        Presence::Default(Value::Text(text)) => value == text,
        Presence::Default(Value::Integer(number)) => value == number,
        Presence::Default(Value::Bool(flag)) => value == flag,
        // An empty text is not absent: without the argument, Terraform would plan to remove it.
        Presence::Optional => value.as_array().is_some_and(Vec::is_empty),
        Presence::Required | Presence::Computed | Presence::Output => false,
    }
}

fn aligned(given: &[(&str, String)], indent: &str) -> String {
    let width = given.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let lines = given.iter().map(|(name, value)| format!("{indent}{name:width$} = {value}\n"));
    lines.collect()
}

/// Returns a name that Terraform accepts.
fn local_name(name: &str) -> String {
    let mut local = String::new();
    for letter in name.to_lowercase().chars() {
        if letter.is_ascii_alphanumeric() {
            local.push(letter);
        } else if !local.is_empty() && !local.ends_with('_') {
            local.push('_');
        }
    }
    let local = local.trim_end_matches('_');
    if local.starts_with(|first: char| first.is_ascii_alphabetic()) {
        local.to_owned()
    } else {
        format!("monitor_{local}").trim_end_matches('_').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use rules::MonitorKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_become_variables() {
        let json = json!({
            "id": "mon_1", "name": "Shop: orders", "url": "https://ada:pw@example.com/${x}?a=1",
            "periodicity": "1m", "method": "POST", "body": "{\"a\": \"b\"}", "timeout": 45000,
            "retry": 5, "active": true, "public": false, "followRedirects": true,
            "regions": ["fly-ams", "fly-iad"], "status": "active",
            "clientCertificate": "-----BEGIN", "clientKey": "s3cret",
            "headers": [
                { "key": "Content-Type", "value": "application/json" },
                { "key": "Authorization", "value": "Bearer s3cret" },
            ],
            "statusCodeAssertions": [{ "target": 200, "comparator": "eq" }],
        });
        let monitor = StoredMonitor { kind: MonitorKind::Http, json };
        insta::assert_snapshot!(configuration(&monitor), @r#"
        variable "shop_orders_credentials" {
          type = string
        }

        variable "shop_orders_client_key" {
          type      = string
          sensitive = true
        }

        variable "shop_orders_authorization" {
          type = string
        }

        resource "service_http_monitor" "shop_orders" {
          name               = "Shop: orders"
          url                = "https://${var.shop_orders_credentials}@example.com/$${x}?a=1"
          periodicity        = "1m"
          method             = "POST"
          body               = "{\"a\": \"b\"}"
          retry              = 5
          client_certificate = "-----BEGIN"
          client_key         = var.shop_orders_client_key
          active             = true
          regions            = ["fly-ams", "fly-iad"]

          headers {
            key   = "Content-Type"
            value = "application/json"
          }

          headers {
            key   = "Authorization"
            value = var.shop_orders_authorization
          }

          status_code_assertions {
            target     = 200
            comparator = "eq"
          }
        }

        import {
          to = service_http_monitor.shop_orders
          id = "mon_1"
        }
        "#);
        assert_eq!(
            import_command(&monitor),
            "terraform import service_http_monitor.shop_orders mon_1"
        );
    }

    #[test]
    fn any_name_becomes_a_local_name() {
        let names = ["API", "1st", "Ünïcode!", "…", "a--b"].map(local_name);
        assert_eq!(names, ["api", "monitor_1st", "n_code", "monitor", "a_b"]);
    }
}
