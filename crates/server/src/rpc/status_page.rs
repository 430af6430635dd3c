//! `status_page.v1.StatusPageService`: validates requests with `rules` and stores pages. Each
//! resource has a file. Shared functions follow the list of methods.

mod component;
mod group;
mod overview;
mod page;
mod subscriber;

use contract::rpc::{RequestContext, Response, ServiceResult};
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
        request: CreateStatusPageRequest,
    ) -> ServiceResult<CreateStatusPageResponse> {
        Response::ok(page::create(&self.0, &context, request).await?)
    }

    async fn get_status_page(
        &self,
        context: RequestContext,
        request: GetStatusPageRequest,
    ) -> ServiceResult<GetStatusPageResponse> {
        Response::ok(page::get(&self.0, &context, request).await?)
    }

    async fn list_status_pages(
        &self,
        context: RequestContext,
        request: ListStatusPagesRequest,
    ) -> ServiceResult<ListStatusPagesResponse> {
        Response::ok(page::list(&self.0, &context, request).await?)
    }

    async fn update_status_page(
        &self,
        context: RequestContext,
        request: UpdateStatusPageRequest,
    ) -> ServiceResult<UpdateStatusPageResponse> {
        Response::ok(page::update(&self.0, &context, request).await?)
    }

    async fn delete_status_page(
        &self,
        context: RequestContext,
        request: DeleteStatusPageRequest,
    ) -> ServiceResult<DeleteStatusPageResponse> {
        Response::ok(page::delete(&self.0, &context, request).await?)
    }

    async fn publish_status_page(
        &self,
        context: RequestContext,
        request: PublishStatusPageRequest,
    ) -> ServiceResult<PublishStatusPageResponse> {
        Response::ok(page::publish(&self.0, &context, request).await?)
    }

    async fn unpublish_status_page(
        &self,
        context: RequestContext,
        request: UnpublishStatusPageRequest,
    ) -> ServiceResult<UnpublishStatusPageResponse> {
        Response::ok(page::unpublish(&self.0, &context, request).await?)
    }

    async fn set_status_page_theme(
        &self,
        context: RequestContext,
        request: SetStatusPageThemeRequest,
    ) -> ServiceResult<SetStatusPageThemeResponse> {
        Response::ok(page::set_theme(&self.0, &context, request).await?)
    }

    async fn set_status_page_indexing(
        &self,
        context: RequestContext,
        request: SetStatusPageIndexingRequest,
    ) -> ServiceResult<SetStatusPageIndexingResponse> {
        Response::ok(page::set_indexing(&self.0, &context, request).await?)
    }

    async fn create_component(
        &self,
        context: RequestContext,
        request: CreateComponentRequest,
    ) -> ServiceResult<CreateComponentResponse> {
        Response::ok(component::create(&self.0, &context, request).await?)
    }

    async fn get_component(
        &self,
        context: RequestContext,
        request: GetComponentRequest,
    ) -> ServiceResult<GetComponentResponse> {
        Response::ok(component::get(&self.0, &context, request).await?)
    }

    async fn list_components(
        &self,
        context: RequestContext,
        request: ListComponentsRequest,
    ) -> ServiceResult<ListComponentsResponse> {
        Response::ok(component::list(&self.0, &context, request).await?)
    }

    async fn update_component(
        &self,
        context: RequestContext,
        request: UpdateComponentRequest,
    ) -> ServiceResult<UpdateComponentResponse> {
        Response::ok(component::update(&self.0, &context, request).await?)
    }

    async fn delete_component(
        &self,
        context: RequestContext,
        request: DeleteComponentRequest,
    ) -> ServiceResult<DeleteComponentResponse> {
        Response::ok(component::delete(&self.0, &context, request).await?)
    }

    async fn create_component_group(
        &self,
        context: RequestContext,
        request: CreateComponentGroupRequest,
    ) -> ServiceResult<CreateComponentGroupResponse> {
        Response::ok(group::create(&self.0, &context, request).await?)
    }

    async fn get_component_group(
        &self,
        context: RequestContext,
        request: GetComponentGroupRequest,
    ) -> ServiceResult<GetComponentGroupResponse> {
        Response::ok(group::get(&self.0, &context, request).await?)
    }

    async fn list_component_groups(
        &self,
        context: RequestContext,
        request: ListComponentGroupsRequest,
    ) -> ServiceResult<ListComponentGroupsResponse> {
        Response::ok(group::list(&self.0, &context, request).await?)
    }

    async fn update_component_group(
        &self,
        context: RequestContext,
        request: UpdateComponentGroupRequest,
    ) -> ServiceResult<UpdateComponentGroupResponse> {
        Response::ok(group::update(&self.0, &context, request).await?)
    }

    async fn delete_component_group(
        &self,
        context: RequestContext,
        request: DeleteComponentGroupRequest,
    ) -> ServiceResult<DeleteComponentGroupResponse> {
        Response::ok(group::delete(&self.0, &context, request).await?)
    }

    async fn get_status_page_overview(
        &self,
        context: RequestContext,
        request: GetStatusPageOverviewRequest,
    ) -> ServiceResult<GetStatusPageOverviewResponse> {
        Response::ok(overview::page(&self.0, &context, request).await?)
    }

    async fn get_component_summary(
        &self,
        context: RequestContext,
        request: GetComponentSummaryRequest,
    ) -> ServiceResult<GetComponentSummaryResponse> {
        Response::ok(overview::component(&self.0, &context, request).await?)
    }

    async fn list_subscribers(
        &self,
        context: RequestContext,
        request: ListSubscribersRequest,
    ) -> ServiceResult<ListSubscribersResponse> {
        Response::ok(subscriber::list(&self.0, &context, request).await?)
    }

    async fn add_subscriber(
        &self,
        context: RequestContext,
        request: AddSubscriberRequest,
    ) -> ServiceResult<AddSubscriberResponse> {
        Response::ok(subscriber::add(&self.0, &context, request).await?)
    }

    async fn remove_subscriber(
        &self,
        context: RequestContext,
        request: RemoveSubscriberRequest,
    ) -> ServiceResult<RemoveSubscriberResponse> {
        Response::ok(subscriber::remove(&self.0, &context, request).await?)
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
