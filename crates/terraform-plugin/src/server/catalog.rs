//! Responses to Terraform's first requests: all names and schemas.

use std::collections::{BTreeMap, HashMap};

use super::provider::Typed;
use super::{Server, describe, wire};
use crate::proto::tfplugin6 as proto;
use crate::{Diagnostic, Provider};

impl<P: Provider> Server<P> {
    pub(super) fn metadata(&self) -> proto::get_metadata::Response {
        use proto::get_metadata::{
            ActionMetadata, DataSourceMetadata, EphemeralResourceMetadata, FunctionMetadata,
            ListResourceMetadata, ResourceMetadata,
        };
        proto::get_metadata::Response {
            server_capabilities: Some(capabilities()),
            diagnostics: Vec::new(),
            resources: named(&self.resources, |type_name| ResourceMetadata { type_name }),
            data_sources: named(&self.data_sources, |type_name| DataSourceMetadata { type_name }),
            functions: named(&self.functions, |name| FunctionMetadata { name }),
            ephemeral_resources: named(&self.ephemerals, |type_name| EphemeralResourceMetadata {
                type_name,
            }),
            list_resources: named(&self.lists, |type_name| ListResourceMetadata { type_name }),
            state_stores: Vec::new(),
            actions: named(&self.actions, |type_name| ActionMetadata { type_name }),
        }
    }

    pub(super) fn schemas(&self) -> proto::get_provider_schema::Response {
        let action = |typed: &Typed| proto::ActionSchema {
            schema: Some(describe::configuration(&typed.schema)),
        };
        proto::get_provider_schema::Response {
            provider: Some(describe::configuration(&self.schema.schema)),
            resource_schemas: each(&self.resources, |it| describe::schema(&it.typed.schema)),
            data_source_schemas: each(&self.data_sources, |it| describe::schema(&it.typed.schema)),
            functions: self.functions(),
            ephemeral_resource_schemas: each(&self.ephemerals, |it| {
                describe::schema(&it.typed.schema)
            }),
            list_resource_schemas: each(&self.lists, |it| {
                describe::configuration(&it.typed.schema)
            }),
            action_schemas: each(&self.actions, |it| action(&it.typed)),
            diagnostics: self.faults().into_iter().map(wire::diagnostic).collect(),
            server_capabilities: Some(capabilities()),
            ..Default::default()
        }
    }

    /// Returns the mistakes of all schemas, so that authors see them at the first run.
    fn faults(&self) -> Vec<Diagnostic> {
        let own = [("the provider", &self.schema)];
        let resources = self.resources.iter().map(|(name, it)| (name.as_str(), &it.typed));
        let data_sources = self.data_sources.iter().map(|(name, it)| (name.as_str(), &it.typed));
        let lists = self.lists.iter().map(|(name, it)| (name.as_str(), &it.typed));
        let ephemerals = self.ephemerals.iter().map(|(name, it)| (name.as_str(), &it.typed));
        let actions = self.actions.iter().map(|(name, it)| (name.as_str(), &it.typed));
        let all = own.into_iter().chain(resources).chain(data_sources);
        let all = all.chain(lists).chain(ephemerals).chain(actions);
        let faults = all.flat_map(|(name, typed)| {
            let faults = typed.schema.faults().into_iter();
            faults.map(move |fault| format!("{name}: {fault}. This is a bug in the provider."))
        });
        let homeless = self.lists.iter().filter(|(_, list)| !list.has_resource());
        let homeless = homeless.map(|(name, _)| {
            format!("the list `{name}` needs a resource of this name with an identity.")
        });
        faults.chain(homeless).map(|fault| Diagnostic::error("Invalid schema", fault)).collect()
    }

    pub(super) fn functions(&self) -> HashMap<String, proto::Function> {
        each(&self.functions, |it| describe::function(&it.signature))
    }

    pub(super) fn identities(&self) -> proto::get_resource_identity_schemas::Response {
        let identities = self.resources.iter().filter_map(|(name, it)| {
            Some((name.clone(), describe::identity(it.identity.as_ref()?)))
        });
        let identity_schemas = identities.collect();
        proto::get_resource_identity_schemas::Response { identity_schemas, diagnostics: Vec::new() }
    }
}

fn named<E, T>(entries: &BTreeMap<String, E>, metadata: impl Fn(String) -> T) -> Vec<T> {
    entries.keys().cloned().map(metadata).collect()
}

fn each<E, T>(entries: &BTreeMap<String, E>, of: impl Fn(&E) -> T) -> HashMap<String, T> {
    entries.iter().map(|(name, entry)| (name.clone(), of(entry))).collect()
}

fn capabilities() -> proto::ServerCapabilities {
    proto::ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
        generate_resource_config: false,
    }
}
