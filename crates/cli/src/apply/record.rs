//! The service's record of what a configuration owns: `configuration.v1.ConfigurationService`.

use std::collections::HashMap;

use anyhow::{Result, bail};
use configuration::{Address, Kind, Recorded, Renamed};
use contract::rpc::Code;
use rules::limits::LIST_LIMIT_MAX;
use serde_json::{Value as Json, json};

use crate::session::Session;

const LIST: &str = "/configuration.v1.ConfigurationService/ListConfigurations";
const ENTRIES: &str = "/configuration.v1.ConfigurationService/ListConfiguredResources";
const WRITE: &str = "/configuration.v1.ConfigurationService/RecordConfiguredResources";
/// Maximum number of entries that a call renames: each is removed and added.
const ENTRIES_MAX: usize = 100;
/// Purposes of the calls, in errors.
const READING: &str = "reading the record of configurations";
const WRITING: &str = "recording the configuration";

/// The record of one configuration.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) name: &'a str,
}

impl Record<'_> {
    /// Returns the entries of the configuration.
    pub(super) async fn entries(&self) -> Result<Vec<Recorded>> {
        let request = json!({ "name": self.name });
        let mut entries = Vec::new();
        for it in self.pages(ENTRIES, &request, "resources").await? {
            let Some(kind) = Kind::named(text(&it, "kind")) else {
                bail!(
                    "the configuration `{}` has resources of the kind `{}`, which this version does \
                     not know; update `aloft`",
                    self.name,
                    text(&it, "kind")
                );
            };
            let address = Address { kind, key: text(&it, "key").to_owned() };
            entries.push(Recorded { address, id: text(&it, "id").to_owned() });
        }
        Ok(entries)
    }

    /// Returns the names of other configurations by the IDs that they own.
    pub(super) async fn foreign(&self) -> Result<HashMap<String, String>> {
        let mut owners = HashMap::new();
        let list = self.read(LIST, &json!({})).await?;
        for other in list["configurations"].as_array().into_iter().flatten() {
            let name = text(other, "name");
            if name == self.name {
                continue;
            }
            let resources = self.pages(ENTRIES, &json!({ "name": name }), "resources").await?;
            let ids = resources.iter().map(|it| text(it, "id")).filter(|id| !id.is_empty());
            owners.extend(ids.map(|id| (id.to_owned(), name.to_owned())));
        }
        Ok(owners)
    }

    /// Records that the configuration owns a resource. An empty ID records that its creation begins.
    /// Fails if the entry has another ID, because another run recorded it.
    pub(super) async fn put(&self, address: &Address, id: &str) -> Result<()> {
        self.write(&json!({ "name": self.name, "put": [entry(address, id)] })).await
    }

    /// Like [`Self::put`], in place of a recorded resource that no longer exists.
    pub(super) async fn exchange(&self, address: &Address, id: &str) -> Result<()> {
        let (old, new) = (entry(address, ""), entry(address, id));
        self.write(&json!({ "name": self.name, "remove": [old], "put": [new] })).await
    }

    /// Changes the keys of entries, all at once.
    pub(super) async fn rename(&self, renamed: &[Renamed]) -> Result<()> {
        for part in renamed.chunks(ENTRIES_MAX) {
            let old = part.iter().map(|it| entry(&it.from, &it.id));
            let new = part.iter().map(|it| entry(&it.to, &it.id));
            let (old, new): (Vec<Json>, Vec<Json>) = (old.collect(), new.collect());
            self.write(&json!({ "name": self.name, "remove": old, "put": new })).await?;
        }
        Ok(())
    }

    /// Removes an entry.
    pub(super) async fn remove(&self, address: &Address) -> Result<()> {
        self.write(&json!({ "name": self.name, "remove": [entry(address, "")] })).await
    }

    async fn write(&self, request: &Json) -> Result<()> {
        self.session.call(WRITING, WRITE, request).await.map(drop)
    }

    async fn read(&self, method: &str, request: &Json) -> Result<Json> {
        match self.session.try_call(method, request).await {
            Ok(answer) => Ok(answer),
            Err(error) if error.code == Code::Unimplemented => {
                bail!("the service does not know configurations; update the server")
            }
            Err(error) => Err(self.session.failure(READING, &error)),
        }
    }

    /// Returns the elements of all pages of a list.
    async fn pages(&self, method: &str, request: &Json, list: &str) -> Result<Vec<Json>> {
        let (mut elements, mut request) = (Vec::new(), request.clone());
        request["limit"] = LIST_LIMIT_MAX.into();
        loop {
            let page = self.read(method, &request).await?;
            elements.extend(page[list].as_array().cloned().unwrap_or_default());
            let next = text(&page, "nextPageToken");
            if next.is_empty() {
                return Ok(elements);
            }
            if request["pageToken"] == next {
                bail!("the service returned the same page of a list twice");
            }
            request["pageToken"] = next.into();
        }
    }
}

fn entry(address: &Address, id: &str) -> Json {
    json!({ "kind": address.kind.name(), "key": address.key, "id": id })
}

fn text<'a>(json: &'a Json, name: &str) -> &'a str {
    json[name].as_str().unwrap_or_default()
}
