//! The provider as Terraform calls it: decodes requests by the schema, lets the provider's code
//! work, and encodes what comes out. Each method of the protocol is in the file of what it is about.

mod answer;
mod data_source;
mod describe;
mod provider;
mod resource;
mod service;
mod wire;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::serve::Stop;
use crate::{Context, Diagnostic, Outcome, Provider};
use data_source::DataSourceEntry;
use provider::Typed;
use resource::ResourceEntry;

/// A provider with all that was asked of it once.
pub(crate) struct Server<P: Provider> {
    provider: P,
    schema: Typed,
    resources: BTreeMap<String, ResourceEntry<P::Client>>,
    data_sources: BTreeMap<String, DataSourceEntry<P::Client>>,
    client: RwLock<Option<Arc<P::Client>>>,
    stop: Stop,
}

impl<P: Provider> Server<P> {
    /// Asks the provider for all of its schemas.
    pub(crate) fn new(provider: P, stop: Stop) -> Self {
        let catalog = provider.catalog();
        let resources = catalog.resources.into_iter();
        let data_sources = catalog.data_sources.into_iter();
        Self {
            schema: Typed::new(provider.schema()),
            resources: resources.map(|(name, it)| (name, ResourceEntry::new(it))).collect(),
            data_sources: data_sources.map(|(name, it)| (name, DataSourceEntry::new(it))).collect(),
            client: RwLock::new(None),
            stop,
            provider,
        }
    }

    fn context(&self) -> Context<P::Client> {
        let client = self.client.read().unwrap_or_else(PoisonError::into_inner).clone();
        Context::new(client, self.stop.begin())
    }

    fn resource(&self, name: &str) -> Outcome<&ResourceEntry<P::Client>> {
        self.resources.get(name).ok_or_else(|| no_such("resource", name))
    }

    fn data_source(&self, name: &str) -> Outcome<&DataSourceEntry<P::Client>> {
        self.data_sources.get(name).ok_or_else(|| no_such("data source", name))
    }
}

fn no_such(what: &str, name: &str) -> crate::Diagnostics {
    let detail = format!("this provider has no {what} `{name}`");
    Diagnostic::error(format!("Unknown {what}"), detail).into()
}
