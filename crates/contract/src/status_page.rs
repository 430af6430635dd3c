//! Converts `status_page.v1` between the wire and `rules`: requests to drafts, stored objects to
//! responses. Validation belongs to `rules`.

use rules::Secret;
use rules::status_page::{
    Component, ComponentDraft, ComponentGroup, Destination, GroupDraft, PageDraft, StatusPage,
    Subscriber, SubscriberDraft, SuppressionReason,
};

use crate::IntoDraft;
use crate::fields::{SecretVisibility, encode_address};
use crate::monitor::{encode_instant, revision};

/// Messages and service generated from `proto/status_page/v1/status_page.proto`. A message
/// becomes a field by `into()`.
pub mod wire {
    pub use crate::monitor::wire::{FieldMask, MessageField, Timestamp};
    pub use proto::status_page::v1::*;
}

impl IntoDraft for wire::StatusPage {
    type Draft = PageDraft;

    fn into_draft(self) -> PageDraft {
        PageDraft {
            title: self.title,
            slug: self.slug,
            description: self.description,
            homepage_url: self.homepage_url,
            contact_url: self.contact_url,
            icon: self.icon,
            custom_domain: self.custom_domain,
            access_type: self.access_type,
            password: self.password.map(Secret::new),
            auth_email_domains: self.auth_email_domains,
        }
    }
}

impl IntoDraft for wire::Component {
    type Draft = ComponentDraft;

    fn into_draft(self) -> ComponentDraft {
        ComponentDraft {
            page_id: self.page_id,
            kind: self.r#type,
            monitor_id: self.monitor_id,
            name: self.name,
            description: self.description,
            order: self.order,
            group_id: self.group_id,
            group_order: self.group_order,
        }
    }
}

impl IntoDraft for wire::ComponentGroup {
    type Draft = GroupDraft;

    fn into_draft(self) -> GroupDraft {
        GroupDraft { page_id: self.page_id, name: self.name }
    }
}

impl IntoDraft for wire::Subscriber {
    type Draft = SubscriberDraft;

    fn into_draft(self) -> SubscriberDraft {
        SubscriberDraft {
            page_id: self.page_id,
            email: self.email,
            webhook_url: self.webhook_url.map(Secret::new),
            language: self.language,
            component_ids: self.component_ids,
            topics: self.topics,
        }
    }
}

/// Encodes a status page. Its password is a secret: for a read key the field is absent, without a
/// placeholder (design §4).
pub fn encode_page(page: &StatusPage, secrets: SecretVisibility) -> wire::StatusPage {
    let settings = &page.settings;
    let password = settings.password.as_ref().filter(|_| secrets == SecretVisibility::Visible);
    wire::StatusPage {
        id: Some(page.id.to_string()),
        title: Some(settings.title.clone()),
        slug: Some(settings.slug.clone()),
        description: settings.description.clone(),
        homepage_url: settings.homepage_url.clone(),
        contact_url: settings.contact_url.clone(),
        icon: settings.icon.clone(),
        custom_domain: settings.custom_domain.clone(),
        access_type: settings.access_type.map(|access| access.to_string()),
        password: password.map(|password| password.expose().clone()),
        auth_email_domains: settings.auth_email_domains.clone(),
        published: Some(page.published),
        theme: Some(page.theme.to_string()),
        allow_indexing: Some(page.allow_indexing),
        created_at: encode_instant(page.created_at),
        updated_at: encode_instant(page.updated_at),
        revision: Some(revision(page.updated_at)),
    }
}

/// Encodes a component.
pub fn encode_component(component: &Component) -> wire::Component {
    let settings = &component.settings;
    wire::Component {
        id: Some(component.id.to_string()),
        page_id: Some(settings.page_id.to_string()),
        r#type: Some(settings.kind.to_string()),
        monitor_id: settings.monitor_id.map(|id| id.to_string()),
        name: settings.name.clone(),
        description: settings.description.clone(),
        order: settings.order,
        group_id: settings.group_id.map(|id| id.to_string()),
        group_order: settings.group_order,
        created_at: encode_instant(component.created_at),
        updated_at: encode_instant(component.updated_at),
        revision: Some(revision(component.updated_at)),
    }
}

/// Encodes a component group.
pub fn encode_group(group: &ComponentGroup) -> wire::ComponentGroup {
    wire::ComponentGroup {
        id: Some(group.id.to_string()),
        page_id: Some(group.settings.page_id.to_string()),
        name: Some(group.settings.name.clone()),
        created_at: encode_instant(group.created_at),
        updated_at: encode_instant(group.updated_at),
        revision: Some(revision(group.updated_at)),
    }
}

/// Encodes a subscriber, with the reason if it receives no messages. A read key gets no webhook
/// URL, and only part of an email address.
pub fn encode_subscriber(
    subscriber: &Subscriber,
    suppression: Option<SuppressionReason>,
    secrets: SecretVisibility,
) -> wire::Subscriber {
    let settings = &subscriber.settings;
    let (email, webhook_url) = match &settings.destination {
        Destination::Email(address) => (Some(encode_address(address, secrets)), None),
        Destination::Webhook(url) => {
            (None, Some(url.expose().clone()).filter(|_| secrets == SecretVisibility::Visible))
        }
    };
    wire::Subscriber {
        id: Some(subscriber.id.to_string()),
        page_id: Some(settings.page_id.to_string()),
        email,
        webhook_url,
        language: Some(settings.language.to_string()),
        component_ids: settings.scope.ids().iter().map(ToString::to_string).collect(),
        topics: settings.topics.iter().map(ToString::to_string).collect(),
        kind: Some(settings.destination.kind().to_string()),
        state: Some(subscriber.state().to_string()),
        created_at: encode_instant(subscriber.created_at),
        confirmed_at: subscriber.confirmed_at.map(encode_instant).unwrap_or_default(),
        suppression_reason: suppression.map(|why| why.to_string()),
    }
}

#[cfg(test)]
mod tests;
