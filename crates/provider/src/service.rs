//! What the service has for each resource: the names of its calls and of what they carry, and the same
//! five calls for all. Values travel as the protocol's JSON, by the names of the tables. When a call is
//! made belongs to `resource`.

mod judged;
mod kinds;

use rules::limits::LIST_LIMIT_MAX;
use rules::{MonitorKind, Violations};
use serde_json::{Map, Value as Json, json};

pub use self::kinds::{
    COMPONENTS, DNS_MONITORS, GROUPS, HTTP_MONITORS, NOTIFICATIONS, PAGES, TCP_MONITORS,
};
use crate::client::{Client, Failure};
use crate::wire::{camel, elements};

/// The names under which an answer may have a monitor, by its kind.
static KINDS: [(MonitorKind, &str, &Service); 3] = [
    (MonitorKind::Http, "http", &HTTP_MONITORS),
    (MonitorKind::Tcp, "tcp", &TCP_MONITORS),
    (MonitorKind::Dns, "dns", &DNS_MONITORS),
];

/// What the service answers of one resource.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The resource as the wire's JSON.
    pub resource: Json,
    /// What its writer should know.
    pub warnings: Vec<Warning>,
}

/// Something that was stored all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Path from the request on, such as `notification.provider_type`.
    pub field: String,
    /// What the matter is and the way out.
    pub message: String,
}

/// A page of a list.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The resources as the wire's JSON, newest first.
    pub resources: Vec<Json>,
    /// Token of the next page; empty on the last.
    pub next: String,
}

/// The calls for the resources of one kind.
#[derive(Debug)]
pub struct Service {
    /// What the product calls one of them.
    pub noun: &'static str,
    /// What is wrong with a resource that was written like this, before anybody is asked.
    pub refused: fn(Json) -> Violations,
    /// Whether each field of an answer has the contract's type.
    held: fn(Json) -> Result<(), serde_json::Error>,
    /// What stands before its methods, such as `/monitor.v1.MonitorService`.
    path: &'static str,
    /// What creates and updates call one, such as `HttpMonitor`.
    written: &'static str,
    /// What the other calls name one, such as `Monitor`.
    read: &'static str,
    /// The field of requests and answers that has one.
    field: &'static str,
    /// The field of a list's answer.
    list_field: &'static str,
    /// Which kind of monitor it is, if it is one: calls that read have them all.
    kind: Option<MonitorKind>,
}

/// Which resource is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    /// Its identifier.
    pub id: String,
    /// The page it belongs to, where it belongs to one and that is known.
    pub page_id: Option<String>,
}

/// Which page of a list is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// [`Page::next`] of the page before; empty for the first.
    pub token: String,
    /// Only what belongs to this status page, where such things do.
    pub page_id: Option<String>,
}

impl Service {
    /// Creates one.
    pub async fn create(&self, client: &Client, resource: Json) -> Result<Answer, Failure> {
        let request = json!({ self.field: resource });
        let answer = client.create(&self.method("Create", self.written), request).await?;
        Ok(Answer { resource: self.one(&answer)?, warnings: warnings(&answer) })
    }

    /// Reads the one with this id. A monitor of another kind is named with its own resource.
    pub async fn get(&self, client: &Client, id: Id) -> Result<Answer, Failure> {
        let Some(kind) = self.kind else {
            let request = request([("id", Some(id.id)), ("pageId", id.page_id)]);
            let answer = client.call(&self.method("Get", self.read), request).await?;
            return Ok(Answer { resource: self.one(&answer)?, warnings: warnings(&answer) });
        };
        let (found, resource) = any_monitor(client, &id.id).await?;
        if found == kind {
            return Ok(Answer { resource, warnings: Vec::new() });
        }
        let right = rules::tables::monitor(found).name;
        Err(Failure::Failed(format!(
            "`{}` is a {} monitor, which is a `{right}` and no `{}`. Import it as a `{right}`.",
            id.id,
            found.as_str().to_uppercase(),
            rules::tables::monitor(kind).name
        )))
    }

    /// Changes what the mask names.
    pub async fn update(
        &self,
        client: &Client,
        resource: Json,
        mask: &[&str],
    ) -> Result<Answer, Failure> {
        let mask: Vec<_> = mask.iter().map(|name| camel(name)).collect();
        let request = json!({ self.field: resource, "updateMask": mask.join(",") });
        let answer = client.call(&self.method("Update", self.written), request).await?;
        Ok(Answer { resource: self.one(&answer)?, warnings: warnings(&answer) })
    }

    /// Deletes the one with this id.
    pub async fn delete(&self, client: &Client, id: String) -> Result<(), Failure> {
        client.call(&self.method("Delete", self.read), json!({ "id": id })).await.map(drop)
    }

    /// A page of all of them.
    pub async fn list(&self, client: &Client, asked: Asked) -> Result<Page, Failure> {
        let token = Some(asked.token).filter(|token| !token.is_empty());
        let mut request = request([("pageToken", token), ("pageId", asked.page_id)]);
        request["limit"] = LIST_LIMIT_MAX.into();
        let answer = client.call(&self.method("List", &format!("{}s", self.read)), request).await?;
        let resources = elements(&answer[self.list_field]).iter().map(|it| self.whole(it));
        Ok(Page {
            resources: resources.collect::<Result<_, _>>()?,
            next: text(&answer["nextPageToken"]),
        })
    }

    fn method(&self, verb: &str, noun: &str) -> String {
        format!("{}/{verb}{noun}", self.path)
    }

    /// The resource of an answer.
    fn one(&self, answer: &Json) -> Result<Json, Failure> {
        self.whole(present(answer, self.field)?)
    }

    /// A resource whose fields are what the contract says.
    fn whole(&self, resource: &Json) -> Result<Json, Failure> {
        (self.held)(resource.clone()).map_err(Failure::broken)?;
        Ok(resource.clone())
    }
}

/// Reads a monitor of whatever kind.
pub async fn any_monitor(client: &Client, id: &str) -> Result<(MonitorKind, Json), Failure> {
    let method = HTTP_MONITORS.method("Get", HTTP_MONITORS.read);
    let answer = client.call(&method, json!({ "id": id })).await?;
    let monitor = present(&answer, HTTP_MONITORS.field)?;
    let found = KINDS.iter().find(|(_, name, _)| monitor[*name].is_object());
    let (kind, name, service) = found
        .ok_or_else(|| Failure::broken("its monitor is of no kind that this provider knows"))?;
    Ok((*kind, service.whole(&monitor[*name])?))
}

/// What should be a text; empty where it is absent.
pub fn text(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

fn present<'a>(answer: &'a Json, field: &str) -> Result<&'a Json, Failure> {
    let given = Some(&answer[field]).filter(|it| it.is_object());
    given.ok_or_else(|| Failure::broken(format!("it has no `{field}`")))
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

#[cfg(test)]
mod tests {
    use contract::rpc;

    use super::*;

    const ALL: [&Service; 7] = [
        &HTTP_MONITORS,
        &TCP_MONITORS,
        &DNS_MONITORS,
        &NOTIFICATIONS,
        &PAGES,
        &COMPONENTS,
        &GROUPS,
    ];

    #[test]
    fn the_contract_has_each_method_and_each_field() {
        for service in ALL {
            let plural = format!("{}s", service.read);
            for (verb, noun, wants) in [
                ("Create", service.written, service.field),
                ("Get", service.read, "id"),
                ("Update", service.written, service.field),
                ("Delete", service.read, "id"),
                ("List", plural.as_str(), "pageToken"),
            ] {
                let path = service.method(verb, noun);
                let method = rpc::method(&path).unwrap_or_else(|| panic!("{path}"));
                let has = |message, field: &str| {
                    rpc::field_names(message).unwrap().any(|name| camel(name) == field)
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
        for (kind, name, service) in &KINDS {
            assert!(rpc::field_names("monitor.v1.Monitor").unwrap().any(|field| field == *name));
            assert_eq!(service.kind, Some(*kind));
        }
    }
}
