//! `notification.v1`: channels, whose writer is told when nobody will hear of them.

use contract::notification::wire::{
    CreateNotificationRequest, DeleteNotificationRequest, FieldMask, GetNotificationRequest,
    ListNotificationsRequest, Notification, UpdateNotificationRequest, Warning as WireWarning,
};
use contract::rpc;
use rules::Violations;
use rules::limits::LIST_LIMIT_MAX;
use rules::notification::ChannelDraft;
use serde_json::Value as Json;

use super::{Answer, Asked, Called, Id, Page, Service, Warning, json, judged, message, present};
use crate::client::Client;

/// The calls for notification channels.
pub static NOTIFICATIONS: Service =
    Service { noun: "notification channel", refused, create, get, update, delete, list };

fn create(client: &Client, resource: Json) -> Called<'_, Answer> {
    Box::pin(client.create(move |services, options| {
        let resource = resource.clone();
        async move {
            let notification = message::<Notification>(resource)?.into();
            let request = CreateNotificationRequest { notification };
            let answer =
                services.notifications.create_notification_with_options(request, options).await?;
            let answer = answer.into_owned();
            answered(answer.notification.as_option(), answer.warnings)
        }
    }))
}

fn get(client: &Client, Id { id, .. }: Id) -> Called<'_, Answer> {
    Box::pin(client.call(move |services, options| {
        let request = GetNotificationRequest { id: id.clone() };
        async move {
            let answer =
                services.notifications.get_notification_with_options(request, options).await?;
            let answer = answer.into_owned();
            answered(answer.notification.as_option(), answer.warnings)
        }
    }))
}

fn update(client: &Client, resource: Json, paths: Vec<String>) -> Called<'_, Answer> {
    Box::pin(client.call(move |services, options| {
        let (resource, paths) = (resource.clone(), paths.clone());
        async move {
            let request = UpdateNotificationRequest {
                notification: message::<Notification>(resource)?.into(),
                update_mask: FieldMask { paths, ..Default::default() }.into(),
            };
            let answer =
                services.notifications.update_notification_with_options(request, options).await?;
            let answer = answer.into_owned();
            answered(answer.notification.as_option(), answer.warnings)
        }
    }))
}

fn delete(client: &Client, id: String) -> Called<'_, ()> {
    Box::pin(client.call(move |services, options| {
        let request = DeleteNotificationRequest { id: id.clone() };
        async move {
            services
                .notifications
                .delete_notification_with_options(request, options)
                .await
                .map(drop)
        }
    }))
}

fn list(client: &Client, asked: Asked) -> Called<'_, Page> {
    Box::pin(client.call(move |services, options| {
        let request = ListNotificationsRequest {
            limit: Some(LIST_LIMIT_MAX as i32),
            page_token: asked.token(),
            ..Default::default()
        };
        async move {
            let answer =
                services.notifications.list_notifications_with_options(request, options).await?;
            let answer = answer.into_owned();
            let resources = answer.notifications.iter().map(json).collect::<Result<_, _>>()?;
            Ok(Page { resources, next: answer.next_page_token })
        }
    }))
}

fn refused(resource: Json) -> Violations {
    judged::<Notification, ChannelDraft>(resource, |draft| draft.parse().err())
}

fn answered(
    channel: Option<&Notification>,
    warnings: Vec<WireWarning>,
) -> Result<Answer, rpc::Error> {
    let warnings = warnings.into_iter();
    let warnings = warnings.map(|it| Warning { field: it.field, message: it.message }).collect();
    Ok(Answer { resource: present("notification", channel)?, warnings })
}
