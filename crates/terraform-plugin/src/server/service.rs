//! The generated service, method by method.

use tonic::{Request, Response, Status, async_trait};

use super::Server;
use super::answer::answer;
use crate::Provider;
use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::provider_server::Provider as Service;

type Reply<T> = Result<Response<T>, Status>;

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

    async fn validate_provider_config(
        &self,
        request: Request<proto::validate_provider_config::Request>,
    ) -> Reply<proto::validate_provider_config::Response> {
        let ctx = self.context();
        Ok(Response::new(answer(&ctx, self.validate(&ctx, request.into_inner())).await))
    }

    async fn configure_provider(
        &self,
        request: Request<proto::configure_provider::Request>,
    ) -> Reply<proto::configure_provider::Response> {
        let ctx = self.context();
        Ok(Response::new(answer(&ctx, self.configure(&ctx, request.into_inner())).await))
    }

    async fn validate_resource_config(
        &self,
        request: Request<proto::validate_resource_config::Request>,
    ) -> Reply<proto::validate_resource_config::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async { self.resource(&request.type_name)?.validate(&ctx, &request).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<proto::upgrade_resource_state::Request>,
    ) -> Reply<proto::upgrade_resource_state::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async { self.resource(&request.type_name)?.upgrade(&request) };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn upgrade_resource_identity(
        &self,
        request: Request<proto::upgrade_resource_identity::Request>,
    ) -> Reply<proto::upgrade_resource_identity::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async { self.resource(&request.type_name)?.upgrade_identity(&request) };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn read_resource(
        &self,
        request: Request<proto::read_resource::Request>,
    ) -> Reply<proto::read_resource::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async { self.resource(&request.type_name)?.read(&ctx, &request).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn plan_resource_change(
        &self,
        request: Request<proto::plan_resource_change::Request>,
    ) -> Reply<proto::plan_resource_change::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async { self.resource(&request.type_name)?.plan(&ctx, &request).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn apply_resource_change(
        &self,
        request: Request<proto::apply_resource_change::Request>,
    ) -> Reply<proto::apply_resource_change::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async { self.resource(&request.type_name)?.apply(&ctx, &request).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn import_resource_state(
        &self,
        request: Request<proto::import_resource_state::Request>,
    ) -> Reply<proto::import_resource_state::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work = async { self.resource(&request.type_name)?.import(&ctx, &request).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn move_resource_state(
        &self,
        request: Request<proto::move_resource_state::Request>,
    ) -> Reply<proto::move_resource_state::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work =
            async { self.resource(&request.target_type_name)?.take_over(&ctx, &request).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<proto::validate_data_resource_config::Request>,
    ) -> Reply<proto::validate_data_resource_config::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work =
            async { self.data_source(&request.type_name)?.validate(&ctx, request.clone()).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn read_data_source(
        &self,
        request: Request<proto::read_data_source::Request>,
    ) -> Reply<proto::read_data_source::Response> {
        let (ctx, request) = (self.context(), request.into_inner());
        let work =
            async { self.data_source(&request.type_name)?.read(&ctx, request.clone()).await };
        Ok(Response::new(answer(&ctx, work).await))
    }

    async fn stop_provider(
        &self,
        _: Request<proto::stop_provider::Request>,
    ) -> Reply<proto::stop_provider::Response> {
        Ok(Response::new(self.stop()))
    }
}
