//! `status_page.v1.StatusPageService`: validates requests with `rules` and stores pages. Each
//! resource has a file. Shared functions follow the list of methods.

mod component;
mod group;
mod overview;
mod page;
mod subscriber;

use contract::rpc::{RequestContext, Response, ServiceRequest, ServiceResult};
use contract::status_page::wire::{
    AddSubscriberRequest, AddSubscriberResponse, CreateComponentGroupRequest,
    CreateComponentGroupResponse, CreateComponentRequest, CreateComponentResponse,
    CreateStatusPageRequest, CreateStatusPageResponse, DeleteComponentGroupRequest,
    DeleteComponentGroupResponse, DeleteComponentRequest, DeleteComponentResponse,
    DeleteStatusPageRequest, DeleteStatusPageResponse, GetComponentGroupRequest,
    GetComponentGroupResponse, GetComponentRequest, GetComponentResponse,
    GetComponentSummaryRequest, GetComponentSummaryResponse, GetStatusPageOverviewRequest,
    GetStatusPageOverviewResponse, GetStatusPageRequest, GetStatusPageResponse,
    ListComponentGroupsRequest, ListComponentGroupsResponse, ListComponentsRequest,
    ListComponentsResponse, ListStatusPagesRequest, ListStatusPagesResponse,
    ListSubscribersRequest, ListSubscribersResponse, PublishStatusPageRequest,
    PublishStatusPageResponse, RemoveSubscriberRequest, RemoveSubscriberResponse,
    SetStatusPageIndexingRequest, SetStatusPageIndexingResponse, SetStatusPageThemeRequest,
    SetStatusPageThemeResponse, StatusPageService, UnpublishStatusPageRequest,
    UnpublishStatusPageResponse, UpdateComponentGroupRequest, UpdateComponentGroupResponse,
    UpdateComponentRequest, UpdateComponentResponse, UpdateStatusPageRequest,
    UpdateStatusPageResponse,
};

use super::list::PageRequest;
use crate::rpc::Services;

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct StatusPages(pub(super) Services);

impl StatusPageService for StatusPages {
    async fn create_status_page(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, CreateStatusPageRequest>,
    ) -> ServiceResult<CreateStatusPageResponse> {
        Response::ok(page::create(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn get_status_page(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, GetStatusPageRequest>,
    ) -> ServiceResult<GetStatusPageResponse> {
        Response::ok(page::get(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn list_status_pages(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, ListStatusPagesRequest>,
    ) -> ServiceResult<ListStatusPagesResponse> {
        Response::ok(page::list(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn update_status_page(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, UpdateStatusPageRequest>,
    ) -> ServiceResult<UpdateStatusPageResponse> {
        Response::ok(page::update(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn delete_status_page(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, DeleteStatusPageRequest>,
    ) -> ServiceResult<DeleteStatusPageResponse> {
        Response::ok(page::delete(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn publish_status_page(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, PublishStatusPageRequest>,
    ) -> ServiceResult<PublishStatusPageResponse> {
        Response::ok(page::publish(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn unpublish_status_page(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, UnpublishStatusPageRequest>,
    ) -> ServiceResult<UnpublishStatusPageResponse> {
        Response::ok(page::unpublish(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn set_status_page_theme(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, SetStatusPageThemeRequest>,
    ) -> ServiceResult<SetStatusPageThemeResponse> {
        Response::ok(page::set_theme(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn set_status_page_indexing(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, SetStatusPageIndexingRequest>,
    ) -> ServiceResult<SetStatusPageIndexingResponse> {
        Response::ok(page::set_indexing(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn create_component(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, CreateComponentRequest>,
    ) -> ServiceResult<CreateComponentResponse> {
        Response::ok(component::create(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn get_component(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, GetComponentRequest>,
    ) -> ServiceResult<GetComponentResponse> {
        Response::ok(component::get(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn list_components(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, ListComponentsRequest>,
    ) -> ServiceResult<ListComponentsResponse> {
        Response::ok(component::list(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn update_component(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, UpdateComponentRequest>,
    ) -> ServiceResult<UpdateComponentResponse> {
        Response::ok(component::update(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn delete_component(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, DeleteComponentRequest>,
    ) -> ServiceResult<DeleteComponentResponse> {
        Response::ok(component::delete(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn create_component_group(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, CreateComponentGroupRequest>,
    ) -> ServiceResult<CreateComponentGroupResponse> {
        Response::ok(group::create(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn get_component_group(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, GetComponentGroupRequest>,
    ) -> ServiceResult<GetComponentGroupResponse> {
        Response::ok(group::get(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn list_component_groups(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, ListComponentGroupsRequest>,
    ) -> ServiceResult<ListComponentGroupsResponse> {
        Response::ok(group::list(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn update_component_group(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, UpdateComponentGroupRequest>,
    ) -> ServiceResult<UpdateComponentGroupResponse> {
        Response::ok(group::update(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn delete_component_group(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, DeleteComponentGroupRequest>,
    ) -> ServiceResult<DeleteComponentGroupResponse> {
        Response::ok(group::delete(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn get_status_page_overview(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, GetStatusPageOverviewRequest>,
    ) -> ServiceResult<GetStatusPageOverviewResponse> {
        Response::ok(overview::page(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn get_component_summary(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, GetComponentSummaryRequest>,
    ) -> ServiceResult<GetComponentSummaryResponse> {
        Response::ok(overview::component(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn list_subscribers(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, ListSubscribersRequest>,
    ) -> ServiceResult<ListSubscribersResponse> {
        Response::ok(subscriber::list(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn add_subscriber(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, AddSubscriberRequest>,
    ) -> ServiceResult<AddSubscriberResponse> {
        Response::ok(subscriber::add(&self.0, &context, request.to_owned_message()).await?)
    }

    async fn remove_subscriber(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, RemoveSubscriberRequest>,
    ) -> ServiceResult<RemoveSubscriberResponse> {
        Response::ok(subscriber::remove(&self.0, &context, request.to_owned_message()).await?)
    }
}

/// Returns the requested page of a list.
fn page_request(
    limit: Option<i32>,
    offset: Option<i32>,
    page_token: Option<&str>,
) -> PageRequest<'_> {
    PageRequest { limit, offset, page_token }
}
