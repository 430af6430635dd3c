//! Everything that a provider offers, by name.

use std::collections::BTreeMap;
use std::fmt;

use crate::action::{Action, ErasedAction};
use crate::data_source::{DataSource, ErasedDataSource};
use crate::ephemeral::{EphemeralResource, ErasedEphemeral};
use crate::function::Function;
use crate::list::{ErasedList, ListResource};
use crate::resource::{ErasedResource, Resource};

/// Everything that a provider offers, by full names such as `cloud_disk`. Functions have short
/// names.
pub struct Catalog<C> {
    pub(crate) resources: BTreeMap<String, Box<dyn ErasedResource<C>>>,
    pub(crate) data_sources: BTreeMap<String, Box<dyn ErasedDataSource<C>>>,
    pub(crate) functions: BTreeMap<String, Box<dyn Function>>,
    pub(crate) lists: BTreeMap<String, Box<dyn ErasedList<C>>>,
    pub(crate) ephemerals: BTreeMap<String, Box<dyn ErasedEphemeral<C>>>,
    pub(crate) actions: BTreeMap<String, Box<dyn ErasedAction<C>>>,
}

impl<C> Catalog<C> {
    /// Creates an empty catalog.
    pub fn new() -> Self {
        Self {
            resources: BTreeMap::new(),
            data_sources: BTreeMap::new(),
            functions: BTreeMap::new(),
            lists: BTreeMap::new(),
            ephemerals: BTreeMap::new(),
            actions: BTreeMap::new(),
        }
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource(mut self, name: &str, resource: impl Resource<Client = C>) -> Self {
        self.resources.insert(name.to_owned(), Box::new(resource));
        self
    }

    /// Adds a data source.
    #[must_use]
    pub fn data_source(mut self, name: &str, source: impl DataSource<Client = C>) -> Self {
        self.data_sources.insert(name.to_owned(), Box::new(source));
        self
    }

    /// Adds a function.
    #[must_use]
    pub fn function(mut self, name: &str, function: impl Function) -> Self {
        self.functions.insert(name.to_owned(), Box::new(function));
        self
    }

    /// Adds a search for the objects of the resource with this name.
    #[must_use]
    pub fn list(mut self, name: &str, list: impl ListResource<Client = C>) -> Self {
        self.lists.insert(name.to_owned(), Box::new(list));
        self
    }

    /// Adds an ephemeral resource.
    #[must_use]
    pub fn ephemeral(mut self, name: &str, it: impl EphemeralResource<Client = C>) -> Self {
        self.ephemerals.insert(name.to_owned(), Box::new(it));
        self
    }

    /// Adds an action.
    #[must_use]
    pub fn action(mut self, name: &str, action: impl Action<Client = C>) -> Self {
        self.actions.insert(name.to_owned(), Box::new(action));
        self
    }
}

impl<C> Default for Catalog<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> fmt::Debug for Catalog<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("resources", &self.resources.keys())
            .field("data_sources", &self.data_sources.keys())
            .field("functions", &self.functions.keys())
            .field("lists", &self.lists.keys())
            .field("ephemerals", &self.ephemerals.keys())
            .field("actions", &self.actions.keys())
            .finish()
    }
}
