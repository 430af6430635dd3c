//! Implements the generated service. Each method finds its entry and delegates to it.

use std::sync::Arc;

use futures_util::StreamExt;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, async_trait};

use super::response::respond;
use super::{Server, find, function, wire};
use crate::Provider;
use crate::function::FunctionError;
use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::provider_server::Provider as Service;

type Reply<T> = Result<Response<T>, Status>;

/// Responds with a method of the entry that the request names.
macro_rules! by_entry {
    ($self:ident, $request:ident, $entries:ident, $what:literal, $name:ident, $method:ident) => {{
        let (ctx, request) = ($self.context(), $request.into_inner());
        let work =
            async { find(&$self.$entries, $what, &request.$name)?.$method(&ctx, &request).await };
        Ok(Response::new(respond(&ctx, work).await))
    }};
}

#[async_trait]
impl<P: Provider> Service for Server<P> {
    async fn get_metadata(
        &self,
        _: Request<proto::get_metadata::Request>,
    ) -> Reply<proto::get_metadata::Response> {
        Ok(Response::new(self.metadata()))
    }

    async fn get_provider_schema(
        &self,
        _: Request<proto::get_provider_schema::Request>,
    ) -> Reply<proto::get_provider_schema::Response> {
        Ok(Response::new(self.schemas()))
    }

    async fn get_resource_identity_schemas(
        &self,
        _: Request<proto::get_resource_identity_schemas::Request>,
    ) -> Reply<proto::get_resource_identity_schemas::Response> {
        Ok(Response::new(self.identities()))
    }

    async fn get_functions(
        &self,
        _: Request<proto::get_functions::Request>,
    ) -> Reply<proto::get_functions::Response> {
        let functions = self.functions();
        Ok(Response::new(proto::get_functions::Response { functions, diagnostics: Vec::new() }))
    }

    async fn validate_provider_config(
        &self,
        request: Request<proto::validate_provider_config::Request>,
    ) -> Reply<proto::validate_provider_config::Response> {
        let ctx = self.context();
        Ok(Response::new(respond(&ctx, self.validate(&ctx, request.into_inner())).await))
    }

    async fn configure_provider(
        &self,
        request: Request<proto::configure_provider::Request>,
    ) -> Reply<proto::configure_provider::Response> {
        let request = request.into_inner();
        let ctx = self.context().with_terraform_version(&request.terraform_version);
        Ok(Response::new(respond(&ctx, self.configure(&ctx, request)).await))
    }

    async fn validate_resource_config(
        &self,
        request: Request<proto::validate_resource_config::Request>,
    ) -> Reply<proto::validate_resource_config::Response> {
        by_entry!(self, request, resources, "resource", type_name, validate)
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<proto::upgrade_resource_state::Request>,
    ) -> Reply<proto::upgrade_resource_state::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work =
            async { find(&self.resources, "resource", &request.type_name)?.upgrade(&request) };
        Ok(Response::new(respond(&ctx, work).await))
    }

    async fn upgrade_resource_identity(
        &self,
        request: Request<proto::upgrade_resource_identity::Request>,
    ) -> Reply<proto::upgrade_resource_identity::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async {
            find(&self.resources, "resource", &request.type_name)?.upgrade_identity(&request)
        };
        Ok(Response::new(respond(&ctx, work).await))
    }

    async fn read_resource(
        &self,
        request: Request<proto::read_resource::Request>,
    ) -> Reply<proto::read_resource::Response> {
        by_entry!(self, request, resources, "resource", type_name, read)
    }

    async fn plan_resource_change(
        &self,
        request: Request<proto::plan_resource_change::Request>,
    ) -> Reply<proto::plan_resource_change::Response> {
        by_entry!(self, request, resources, "resource", type_name, plan)
    }

    async fn apply_resource_change(
        &self,
        request: Request<proto::apply_resource_change::Request>,
    ) -> Reply<proto::apply_resource_change::Response> {
        by_entry!(self, request, resources, "resource", type_name, apply)
    }

    async fn import_resource_state(
        &self,
        request: Request<proto::import_resource_state::Request>,
    ) -> Reply<proto::import_resource_state::Response> {
        by_entry!(self, request, resources, "resource", type_name, import)
    }

    async fn move_resource_state(
        &self,
        request: Request<proto::move_resource_state::Request>,
    ) -> Reply<proto::move_resource_state::Response> {
        by_entry!(self, request, resources, "resource", target_type_name, move_state)
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<proto::validate_data_resource_config::Request>,
    ) -> Reply<proto::validate_data_resource_config::Response> {
        by_entry!(self, request, data_sources, "data source", type_name, validate)
    }

    async fn read_data_source(
        &self,
        request: Request<proto::read_data_source::Request>,
    ) -> Reply<proto::read_data_source::Response> {
        by_entry!(self, request, data_sources, "data source", type_name, read)
    }

    async fn validate_ephemeral_resource_config(
        &self,
        request: Request<proto::validate_ephemeral_resource_config::Request>,
    ) -> Reply<proto::validate_ephemeral_resource_config::Response> {
        by_entry!(self, request, ephemerals, "ephemeral resource", type_name, validate)
    }

    async fn open_ephemeral_resource(
        &self,
        request: Request<proto::open_ephemeral_resource::Request>,
    ) -> Reply<proto::open_ephemeral_resource::Response> {
        by_entry!(self, request, ephemerals, "ephemeral resource", type_name, open)
    }

    async fn renew_ephemeral_resource(
        &self,
        request: Request<proto::renew_ephemeral_resource::Request>,
    ) -> Reply<proto::renew_ephemeral_resource::Response> {
        by_entry!(self, request, ephemerals, "ephemeral resource", type_name, renew)
    }

    async fn close_ephemeral_resource(
        &self,
        request: Request<proto::close_ephemeral_resource::Request>,
    ) -> Reply<proto::close_ephemeral_resource::Response> {
        by_entry!(self, request, ephemerals, "ephemeral resource", type_name, close)
    }

    async fn validate_list_resource_config(
        &self,
        request: Request<proto::validate_list_resource_config::Request>,
    ) -> Reply<proto::validate_list_resource_config::Response> {
        by_entry!(self, request, lists, "list resource", type_name, validate)
    }

    async fn list_resource(
        &self,
        request: Request<proto::list_resource::Request>,
    ) -> Reply<BoxStream<proto::list_resource::Event>> {
        let request = request.into_inner();
        let found = find(&self.lists, "list resource", &request.type_name);
        let list = Arc::clone(found.map_err(wire::status)?);
        Ok(Response::new(list.list(self.context(), request).map(Ok).boxed()))
    }

    async fn validate_action_config(
        &self,
        request: Request<proto::validate_action_config::Request>,
    ) -> Reply<proto::validate_action_config::Response> {
        by_entry!(self, request, actions, "action", action_type, validate)
    }

    async fn plan_action(
        &self,
        request: Request<proto::plan_action::Request>,
    ) -> Reply<proto::plan_action::Response> {
        by_entry!(self, request, actions, "action", action_type, plan)
    }

    async fn invoke_action(
        &self,
        request: Request<proto::invoke_action::Request>,
    ) -> Reply<BoxStream<proto::invoke_action::Event>> {
        let request = request.into_inner();
        let found = find(&self.actions, "action", &request.action_type);
        let action = Arc::clone(found.map_err(wire::status)?);
        Ok(Response::new(action.invoke(self.context(), request).map(Ok).boxed()))
    }

    async fn call_function(
        &self,
        request: Request<proto::call_function::Request>,
    ) -> Reply<proto::call_function::Response> {
        let request = request.into_inner();
        Ok(Response::new(match self.functions.get(&request.name) {
            Some(entry) => entry.call(&request),
            None => function::failed(FunctionError::new("function not found in this provider")),
        }))
    }

    async fn stop_provider(
        &self,
        _: Request<proto::stop_provider::Request>,
    ) -> Reply<proto::stop_provider::Response> {
        Ok(Response::new(self.stop()))
    }
}
