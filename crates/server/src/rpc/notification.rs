//! `notification.v1.NotificationService`: validates requests with `rules` and stores channels. URLs
//! with a literal address are checked against the egress policy here, others when a message is
//! sent. Deliveries, tests and signing secrets are in files of their own.

mod delivery;
mod signing;
mod test;

use contract::IntoDraft as _;
use contract::monitor::mask;
use contract::notification::encode;
use contract::notification::wire::{
    CreateNotificationRequest, CreateNotificationResponse, DeleteNotificationRequest,
    DeleteNotificationResponse, GetDeliveryRequest, GetDeliveryResponse, GetNotificationRequest,
    GetNotificationResponse, ListDeliveriesRequest, ListDeliveriesResponse,
    ListNotificationsRequest, ListNotificationsResponse, ListSigningSecretsRequest,
    ListSigningSecretsResponse, NotificationService, ReplayDeliveryRequest, ReplayDeliveryResponse,
    RotateSigningSecretRequest, RotateSigningSecretResponse, TestNotificationRequest,
    TestNotificationResponse, UpdateNotificationRequest, UpdateNotificationResponse, Warning,
};
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use domain::notify::Unconfigured;
use rules::notification::{Channel, ChannelDraft, Provider};
use rules::{ChannelId, ProviderType, Violation};
use store::{NewChannel, StoreError};

use super::list::{PageRequest, encode_total};
use super::request::{
    Edit, caller, change, field_changes, id, idempotency, invalid, require, require_id, retry_edit,
    secrets, store_error,
};
use crate::auth::Caller;
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a channel: prefix of the paths of violations.
const RESOURCE: &str = "notification";
/// Noun of this resource in error messages.
const NOUN: &str = "channel";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Notifications(pub(super) Services);

impl NotificationService for Notifications {
    async fn create_notification(
        &self,
        context: RequestContext,
        request: CreateNotificationRequest,
    ) -> ServiceResult<CreateNotificationResponse> {
        let (services, caller) = (&self.0, caller(&context));
        let idempotency = idempotency(&context, "CreateNotification", &request)?;
        let given = require(RESOURCE, request.notification.into_option())?;
        let settings = given.into_draft().parse().map_err(invalid(RESOURCE))?;
        reject_blocked_address(services, &settings.provider)?;
        let (id, workspace) = (services.ctx.new_id(), caller.workspace);
        let new = NewChannel { id, workspace, settings, idempotency };
        let created = services.store.channels().create(new, change(services, caller)).await;
        let channel = created.map_err(store_error(RESOURCE))?.into_inner();
        Response::ok(CreateNotificationResponse {
            notification: encode(&channel, secrets(caller)).into(),
            warnings: warnings(services, &channel),
        })
    }

    async fn get_notification(
        &self,
        context: RequestContext,
        request: GetNotificationRequest,
    ) -> ServiceResult<GetNotificationResponse> {
        let caller = caller(&context);
        let channel = self.find(caller, id(NOUN, &request.id)?).await?;
        Response::ok(GetNotificationResponse {
            notification: encode(&channel, secrets(caller)).into(),
            warnings: warnings(&self.0, &channel),
        })
    }

    async fn list_notifications(
        &self,
        context: RequestContext,
        request: ListNotificationsRequest,
    ) -> ServiceResult<ListNotificationsResponse> {
        let caller = caller(&context);
        let (limit, offset, page_token) =
            (request.limit, request.offset, request.page_token.as_deref());
        let page = PageRequest { limit, offset, page_token }
            .parse()
            .map_err(|violations| rpc::invalid(&violations))?;
        let found = self.0.store.channels().list(caller.workspace, page.with_one_more()).await;
        let found = found.map_err(rpc_error)?;
        let show = |channel: &_| encode(channel, secrets(caller));
        let (notifications, next_page_token) =
            page.cut(&found, |channel| channel.id, show, rpc::encoded_bytes);
        Response::ok(ListNotificationsResponse {
            notifications,
            total_size: encode_total(found.total),
            next_page_token,
        })
    }

    async fn update_notification(
        &self,
        context: RequestContext,
        request: UpdateNotificationRequest,
    ) -> ServiceResult<UpdateNotificationResponse> {
        let caller = caller(&context);
        let mut given = require(RESOURCE, request.notification.into_option())?;
        let id: ChannelId = require_id(RESOURCE, NOUN, given.id.take())?;
        let draft = given.into_draft();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let attempt = || self.try_update(caller, id, (draft.clone(), Edit { mask, revision }));
        let channel = retry_edit(NOUN, id, attempt).await?;
        Response::ok(UpdateNotificationResponse {
            notification: encode(&channel, secrets(caller)).into(),
            warnings: warnings(&self.0, &channel),
        })
    }

    async fn delete_notification(
        &self,
        context: RequestContext,
        request: DeleteNotificationRequest,
    ) -> ServiceResult<DeleteNotificationResponse> {
        let caller = caller(&context);
        let (id, change) = (id(NOUN, &request.id)?, change(&self.0, caller));
        self.0.store.channels().delete(caller.workspace, id, change).await.map_err(rpc_error)?;
        Response::ok(DeleteNotificationResponse::default())
    }

    async fn test_notification(
        &self,
        context: RequestContext,
        request: TestNotificationRequest,
    ) -> ServiceResult<TestNotificationResponse> {
        Response::ok(test::test(&self.0, &context, request).await?)
    }

    async fn list_deliveries(
        &self,
        context: RequestContext,
        request: ListDeliveriesRequest,
    ) -> ServiceResult<ListDeliveriesResponse> {
        Response::ok(delivery::list(&self.0, &context, request).await?)
    }

    async fn get_delivery(
        &self,
        context: RequestContext,
        request: GetDeliveryRequest,
    ) -> ServiceResult<GetDeliveryResponse> {
        Response::ok(delivery::get(&self.0, &context, request).await?)
    }

    async fn replay_delivery(
        &self,
        context: RequestContext,
        request: ReplayDeliveryRequest,
    ) -> ServiceResult<ReplayDeliveryResponse> {
        Response::ok(delivery::replay(&self.0, &context, request).await?)
    }

    async fn list_signing_secrets(
        &self,
        context: RequestContext,
        request: ListSigningSecretsRequest,
    ) -> ServiceResult<ListSigningSecretsResponse> {
        Response::ok(signing::list(&self.0, &context, request).await?)
    }

    async fn rotate_signing_secret(
        &self,
        context: RequestContext,
        request: RotateSigningSecretRequest,
    ) -> ServiceResult<RotateSigningSecretResponse> {
        Response::ok(signing::rotate(&self.0, &context, request).await?)
    }
}

impl Notifications {
    async fn find(&self, caller: Caller, id: ChannelId) -> Result<Channel, Error> {
        self.0.store.channels().get(caller.workspace, id).await.map_err(rpc_error)
    }

    /// Makes one attempt. Returns `None` on a conflict with another edit.
    async fn try_update(
        &self,
        caller: Caller,
        id: ChannelId,
        (wanted, edit): (ChannelDraft, Edit<'_>),
    ) -> Result<Option<Channel>, Error> {
        let seen = self.find(caller, id).await?;
        edit.require_revision(NOUN, id, seen.updated_at)?;
        let mut draft = ChannelDraft::from(&seen.settings);
        match edit.mask {
            None => draft.apply_arguments(wanted),
            Some(mask) => {
                draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
            }
        }
        let settings = draft.parse().map_err(invalid(RESOURCE))?;
        if settings == seen.settings {
            return Ok(Some(seen));
        }
        // An accepted destination stays valid for edits of other fields, even if the operator
        // blocks its network later.
        if settings.provider != seen.settings.provider {
            reject_blocked_address(&self.0, &settings.provider)?;
        }
        let wanted = Channel { settings: settings.clone(), ..seen.clone() };
        let changes = field_changes([&seen, &wanted], encode);
        let update = change(&self.0, caller).with_changes(changes);
        match self.0.store.channels().update(seen, settings, update).await {
            Ok(channel) => Ok(Some(channel)),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(store_error(RESOURCE)(error)),
        }
    }
}

/// Rejects a URL with a literal address that this server may not send to (design §6). Names are
/// checked when a message is sent, because their addresses may change until then.
fn reject_blocked_address(services: &Services, provider: &Provider) -> Result<(), Error> {
    let Some((field, address)) = provider.literal_address() else { return Ok(()) };
    services.egress.permit(address).map_err(|why| {
        let path = format!("{RESOURCE}.{}.{field}", provider.kind());
        let allowed = format!("must be an address that this server may send to: {why}");
        rpc::invalid(&Violation::without_value(path, allowed).into())
    })
}

/// Warning about WhatsApp messages without a template.
const WITHOUT_TEMPLATE: &str = "WhatsApp delivers this channel's messages only within 24 hours after the \
    recipient wrote to the sender: ask the operator to set `whatsapp_template`";

/// Returns the warnings about a channel that was stored but cannot deliver every message.
fn warnings(services: &Services, channel: &Channel) -> Vec<Warning> {
    let warning = |missing: Unconfigured| Warning {
        field: format!("{RESOURCE}.provider_type"),
        message: format!("{missing}; until then its messages become dead letters"),
    };
    let kind = channel.settings.provider.kind();
    let is_untemplated = kind == ProviderType::Whatsapp && services.notifier.is_without_template();
    let untemplated = is_untemplated.then(|| Warning {
        field: format!("{RESOURCE}.provider_type"),
        message: WITHOUT_TEMPLATE.to_owned(),
    });
    services.notifier.missing_setting(kind).map(warning).or(untemplated).into_iter().collect()
}
