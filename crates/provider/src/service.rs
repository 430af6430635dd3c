//! The calls of the service for each kind of resource: five calls that differ only in names. Values travel as
//! the protocol's JSON, with the names of the tables. The order of calls belongs to `resource`.

mod kinds;
mod request_check;

use rules::field::json_name;
use rules::limits::LIST_LIMIT_MAX;
use rules::{MonitorKind, Violations};
use serde_json::{Map, Value as Json, json};

pub use self::kinds::{
    COMPONENTS, DNS_MONITORS, GROUPS, HEARTBEAT_MONITORS, HTTP_MONITORS, NOTIFICATIONS, PAGES,
    TCP_MONITORS,
};
use crate::client::{Client, Failure};
use crate::wire::elements;

/// A response with one resource.
#[derive(Clone, Debug, Default)]
pub struct ResourceReply {
    /// The resource as JSON of the wire.
    pub resource: Json,
    pub warnings: Vec<Warning>,
}

/// A concern of the service about a resource that it stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Path from the request, such as `notification.provider_type`.
    pub field: String,
    /// The concern and the way out.
    pub message: String,
}

/// A page of a list.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The resources as JSON of the wire, newest first.
    pub resources: Vec<Json>,
    /// Token of the next page; empty on the last page.
    pub next_token: String,
}

/// The calls for the resources of one kind.
#[derive(Debug)]
pub struct Service {
    /// Name of the kind in messages.
    pub noun: &'static str,
    /// Validates a resource without a call.
    pub validate: fn(Json) -> Violations,
    /// Checks that each field of a response has the contract's type.
    check_types: fn(Json) -> Result<(), serde_json::Error>,
    /// Path of its methods, such as `/monitor.v1.MonitorService`.
    path: &'static str,
    /// Noun of creates and updates, such as `HttpMonitor`.
    write_noun: &'static str,
    /// Noun of the other calls, such as `Monitor`.
    read_noun: &'static str,
    /// Field of requests and responses with the resource.
    field: &'static str,
    /// Field of a list response.
    list_field: &'static str,
    /// Kind of monitor, if it is one: calls that read return all kinds.
    kind: Option<MonitorKind>,
}

/// A reference to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    pub id: String,
    /// Its status page, if it has one that is known.
    pub page_id: Option<String>,
}

/// A request for a page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// [`Page::next_token`] of the previous page; empty for the first.
    pub token: String,
    /// Status page of the resources, for kinds that belong to one.
    pub page_id: Option<String>,
}

impl Service {
    /// Creates a resource.
    pub async fn create(&self, client: &Client, resource: Json) -> Result<ResourceReply, Failure> {
        let request = json!({ self.field: resource });
        let answer = client.create(&self.method("Create", self.write_noun), request).await?;
        Ok(ResourceReply { resource: self.extract_resource(&answer)?, warnings: warnings(&answer) })
    }

    /// Reads a resource. Fails for a monitor of another kind, and names the resource type that fits.
    pub async fn get(&self, client: &Client, id: Id) -> Result<ResourceReply, Failure> {
        let Some(kind) = self.kind else {
            let request = request([("id", Some(id.id)), ("pageId", id.page_id)]);
            let answer = client.call(&self.method("Get", self.read_noun), request).await?;
            return Ok(ResourceReply {
                resource: self.extract_resource(&answer)?,
                warnings: warnings(&answer),
            });
        };
        let (found, resource) = get_any_monitor(client, &id.id).await?;
        if found == kind {
            return Ok(ResourceReply { resource, warnings: Vec::new() });
        }
        let right = rules::tables::monitor(found).name;
        Err(Failure::Failed(format!(
            "`{}` is a {} monitor, so it is a `{right}`, not a `{}`. Import it as a `{right}`.",
            id.id,
            found.as_str().to_uppercase(),
            rules::tables::monitor(kind).name
        )))
    }

    /// Updates the fields of the mask.
    pub async fn update(
        &self,
        client: &Client,
        resource: Json,
        mask: &[&str],
    ) -> Result<ResourceReply, Failure> {
        let mask: Vec<_> = mask.iter().map(|name| json_name(name)).collect();
        let request = json!({ self.field: resource, "updateMask": mask.join(",") });
        let answer = client.call(&self.method("Update", self.write_noun), request).await?;
        Ok(ResourceReply { resource: self.extract_resource(&answer)?, warnings: warnings(&answer) })
    }

    /// Deletes a resource.
    pub async fn delete(&self, client: &Client, id: String) -> Result<(), Failure> {
        client.call(&self.method("Delete", self.read_noun), json!({ "id": id })).await.map(drop)
    }

    /// Returns a page of the list of all resources.
    pub async fn list(&self, client: &Client, query: ListRequest) -> Result<Page, Failure> {
        let token = Some(query.token).filter(|token| !token.is_empty());
        let mut request = request([("pageToken", token), ("pageId", query.page_id)]);
        request["limit"] = LIST_LIMIT_MAX.into();
        let answer =
            client.call(&self.method("List", &format!("{}s", self.read_noun)), request).await?;
        let resources = elements(&answer[self.list_field]).iter().map(|it| self.check_resource(it));
        Ok(Page {
            resources: resources.collect::<Result<_, _>>()?,
            next_token: text(&answer["nextPageToken"]),
        })
    }

    fn method(&self, verb: &str, noun: &str) -> String {
        format!("{}/{verb}{noun}", self.path)
    }

    /// Returns the resource of a response.
    fn extract_resource(&self, answer: &Json) -> Result<Json, Failure> {
        self.check_resource(present(answer, self.field)?)
    }

    /// Returns a resource once its fields have the contract's types.
    fn check_resource(&self, resource: &Json) -> Result<Json, Failure> {
        (self.check_types)(resource.clone()).map_err(Failure::invalid_response)?;
        Ok(resource.clone())
    }
}

/// Reads a monitor of any kind.
pub async fn get_any_monitor(client: &Client, id: &str) -> Result<(MonitorKind, Json), Failure> {
    let method = HTTP_MONITORS.method("Get", HTTP_MONITORS.read_noun);
    let answer = client.call(&method, json!({ "id": id })).await?;
    let monitor = present(&answer, HTTP_MONITORS.field)?;
    // The message has a field for each kind, named like it.
    let found = MonitorKind::ALL.iter().find(|kind| monitor[kind.as_str()].is_object());
    let kind = *found.ok_or_else(|| Failure::invalid_response("unknown kind of monitor"))?;
    Ok((kind, kinds::monitors(kind).check_resource(&monitor[kind.as_str()])?))
}

/// Returns the field of `ListMonitors` with the monitors of this kind.
pub fn list_field(kind: MonitorKind) -> String {
    format!("{kind}Monitors")
}

/// Returns a string; empty if it is absent.
pub fn text(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

fn present<'a>(answer: &'a Json, field: &str) -> Result<&'a Json, Failure> {
    let given = Some(&answer[field]).filter(|it| it.is_object());
    given.ok_or_else(|| Failure::invalid_response(format!("it has no `{field}`")))
}

fn request<const N: usize>(fields: [(&str, Option<String>); N]) -> Json {
    let given =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    Json::Object(given.collect::<Map<_, _>>())
}

fn warnings(answer: &Json) -> Vec<Warning> {
    let read = |it: &Json| Warning { field: text(&it["field"]), message: text(&it["message"]) };
    elements(&answer["warnings"]).iter().map(read).collect()
}

/// Returns the token of the next page after the page of `token`; `None` after the last.
pub(crate) fn next_token(token: &str, next: String) -> Result<Option<String>, &'static str> {
    match next.as_str() {
        "" => Ok(None),
        again if again == token => Err("The service returned the same page of the list twice."),
        _ => Ok(Some(next)),
    }
}

#[cfg(test)]
mod tests {
    use contract::rpc;

    use super::*;

    const ALL: [&Service; 8] = [
        &HTTP_MONITORS,
        &TCP_MONITORS,
        &DNS_MONITORS,
        &HEARTBEAT_MONITORS,
        &NOTIFICATIONS,
        &PAGES,
        &COMPONENTS,
        &GROUPS,
    ];

    #[test]
    fn contract_has_each_method_and_field() {
        for service in ALL {
            let plural = format!("{}s", service.read_noun);
            for (verb, noun, wants) in [
                ("Create", service.write_noun, service.field),
                ("Get", service.read_noun, "id"),
                ("Update", service.write_noun, service.field),
                ("Delete", service.read_noun, "id"),
                ("List", plural.as_str(), "pageToken"),
            ] {
                let path = service.method(verb, noun);
                let method = rpc::method(&path).unwrap_or_else(|| panic!("{path}"));
                let has = |message, field: &str| {
                    rpc::field_names(message).unwrap().any(|name| json_name(name) == field)
                };
                assert!(has(&method.request, wants), "{path} takes no {wants}");
                let answers = match verb {
                    "List" => service.list_field,
                    "Delete" => continue,
                    _ => service.field,
                };
                assert!(has(&method.response, answers), "{path} answers no {answers}");
            }
        }
        for kind in MonitorKind::ALL {
            let mut fields = rpc::field_names("monitor.v1.Monitor").unwrap();
            assert!(fields.any(|field| field == kind.as_str()), "no field for {kind}");
            assert_eq!(kinds::monitors(*kind).kind, Some(*kind));
            assert_eq!(kinds::monitors(*kind).list_field, list_field(*kind));
        }
    }

    #[test]
    fn repeated_page_token_ends_a_list() {
        assert_eq!(next_token("", "b".to_owned()), Ok(Some("b".to_owned())));
        assert_eq!(next_token("b", "c".to_owned()), Ok(Some("c".to_owned())));
        assert_eq!(next_token("c", String::new()), Ok(None));
        assert!(next_token("c", "c".to_owned()).is_err());
    }
}
