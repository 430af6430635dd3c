//! What a provider offers, by name.

use std::collections::BTreeMap;
use std::fmt;

use crate::data_source::{DataSource, ErasedDataSource};
use crate::resource::{ErasedResource, Resource};

/// What a provider offers, by full names such as `service_http_monitor`.
pub struct Catalog<C> {
    pub(crate) resources: BTreeMap<String, Box<dyn ErasedResource<C>>>,
    pub(crate) data_sources: BTreeMap<String, Box<dyn ErasedDataSource<C>>>,
}

impl<C> Catalog<C> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { resources: BTreeMap::new(), data_sources: BTreeMap::new() }
    }

    /// The same with a resource.
    #[must_use]
    pub fn resource(mut self, name: &str, resource: impl Resource<Client = C>) -> Self {
        self.resources.insert(name.to_owned(), Box::new(resource));
        self
    }

    /// The same with a data source.
    #[must_use]
    pub fn data_source(mut self, name: &str, source: impl DataSource<Client = C>) -> Self {
        self.data_sources.insert(name.to_owned(), Box::new(source));
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
            .finish()
    }
}
