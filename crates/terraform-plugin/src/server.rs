//! The provider as Terraform calls it: decodes requests by the schema, calls the provider's code,
//! and encodes the results. Each submodule contains the methods about one subject.

mod action;
mod catalog;
mod data_source;
mod describe;
mod ephemeral;
mod function;
mod list;
mod provider;
mod resource;
mod response;
mod service;
mod wire;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::list::ErasedList;
use crate::resource::Identity;
use crate::serve::Stop;
use crate::{Context, Diagnostic, Diagnostics, Outcome, Provider};
use action::ActionEntry;
use data_source::DataSourceEntry;
use ephemeral::EphemeralEntry;
use function::FunctionEntry;
use list::ListEntry;
use provider::Typed;
use resource::ResourceEntry;

/// A provider with its schemas, which are requested once.
pub(crate) struct Server<P: Provider> {
    provider: P,
    schema: Typed,
    resources: Entries<ResourceEntry<P::Client>>,
    data_sources: Entries<DataSourceEntry<P::Client>>,
    functions: Entries<FunctionEntry>,
    lists: Entries<Arc<ListEntry<P::Client>>>,
    ephemerals: Entries<EphemeralEntry<P::Client>>,
    actions: Entries<Arc<ActionEntry<P::Client>>>,
    client: RwLock<Option<Arc<P::Client>>>,
    stop: Stop,
}

type Entries<E> = BTreeMap<String, E>;

impl<P: Provider> Server<P> {
    /// Requests all schemas from the provider.
    pub(crate) fn new(provider: P, stop: Stop) -> Self {
        let catalog = provider.catalog();
        let resources = entries(catalog.resources, |_, it| ResourceEntry::new(it));
        Self {
            schema: Typed::new(provider.schema()),
            data_sources: entries(catalog.data_sources, |_, it| DataSourceEntry::new(it)),
            functions: entries(catalog.functions, |_, it| FunctionEntry::new(it)),
            lists: entries(catalog.lists, |name, it| Arc::new(list_of(name, it, &resources))),
            ephemerals: entries(catalog.ephemerals, |_, it| EphemeralEntry::new(it)),
            actions: entries(catalog.actions, |_, it| Arc::new(ActionEntry::new(it))),
            resources,
            client: RwLock::new(None),
            stop,
            provider,
        }
    }

    fn context(&self) -> Context<P::Client> {
        let client = self.client.read().unwrap_or_else(PoisonError::into_inner).clone();
        Context::new(client, self.stop.begin())
    }
}

fn entries<I, E>(given: BTreeMap<String, I>, entry: impl Fn(&str, I) -> E) -> Entries<E> {
    given.into_iter().map(|(name, it)| (name.clone(), entry(&name, it))).collect()
}

/// Creates a list's entry with the schemas of the resource that has its name.
fn list_of<C: Send + Sync + 'static>(
    name: &str,
    list: Box<dyn ErasedList<C>>,
    resources: &Entries<ResourceEntry<C>>,
) -> ListEntry<C> {
    let resource = resources.get(name);
    let typed = resource.map(|it| Typed::new(it.typed.schema.clone()));
    let identity = resource.and_then(|it| it.identity.as_ref()).map(Identity::ty);
    ListEntry::new(list, typed, identity)
}

/// Returns the entry that Terraform names.
fn find<'a, E>(entries: &'a Entries<E>, what: &str, name: &str) -> Outcome<&'a E> {
    entries.get(name).ok_or_else(|| unknown(what, name))
}

fn unknown(what: &str, name: &str) -> Diagnostics {
    let detail = format!("{what} `{name}` not found in this provider");
    Diagnostic::error(format!("Unknown {what}"), detail).into()
}

#[cfg(test)]
mod tests;
