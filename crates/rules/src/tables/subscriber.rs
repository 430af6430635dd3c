//! Subscribers of a status page (issue 7, point 6): our addition and unknown to Terraform, so not
//! in the lists of resources.

use super::monitor::TARGET_CHARS_MAX;
use super::notification::EMAIL_CHARS_MAX;
use crate::enums::{Language, SubscriberKind, SubscriberState, SuppressionReason, Topic};
use crate::field::{Field, Resource, Shape, Value};
use crate::{ComponentId, PageId, SubscriberId};

/// A person or program that is notified of a status page's events.
pub static SUBSCRIBER: Resource = Resource {
    name: "subscriber",
    description: "A person or program that is notified of a status page's events.",
    fields: &[
        Field::required("page_id", Shape::Id(PageId::PREFIX), "Status page to subscribe to."),
        Field::optional(
            "email",
            Shape::EmailAddress { max: EMAIL_CHARS_MAX },
            "Email address; either this or webhook_url is required.",
        ),
        Field::optional(
            "webhook_url",
            Shape::HttpUrl { max: TARGET_CHARS_MAX },
            "URL for signed webhooks; either this or email is required.",
        )
        .sensitive(),
        Field::default(
            "language",
            Shape::OneOf(Language::WORDS),
            Value::Text(Language::En.as_str()),
            "Language of the emails.",
        ),
        Field::optional(
            "component_ids",
            Shape::SetOfIds(ComponentId::PREFIX),
            "Components to be notified of; default: the whole page.",
        ),
        Field::optional(
            "topics",
            Shape::SetOf(Topic::WORDS),
            "Topics to be notified of; default: reports and maintenance.",
        ),
        Field::output("id", Shape::Id(SubscriberId::PREFIX), "Identifier of the subscriber."),
        Field::output(
            "kind",
            Shape::OneOf(SubscriberKind::WORDS),
            "How the subscriber is notified.",
        ),
        Field::output(
            "state",
            Shape::OneOf(SubscriberState::WORDS),
            "Whether the subscriber has confirmed.",
        ),
        Field::output("created_at", Shape::Instant, "When the subscriber was added."),
        Field::output("confirmed_at", Shape::Instant, "When the subscriber was confirmed."),
        Field::output(
            "suppression_reason",
            Shape::OneOf(SuppressionReason::WORDS),
            "Why the subscriber is currently not notified.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};
