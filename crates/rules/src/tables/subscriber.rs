//! Subscribers of a status page (issue 7, point 6): our addition and unknown to Terraform, so not
//! in the lists of resources.

use super::monitor::TARGET_CHARS_MAX;
use super::notification::EMAIL_CHARS_MAX;
use crate::field::{Field, Resource, Shape, Value};
use crate::status_page::{Language, NotTold, SubscriberKind, SubscriberState, Topic};
use crate::{ComponentId, PageId, SubscriberId};

/// A person or program that is notified of a status page's events.
pub static SUBSCRIBER: Resource = Resource {
    name: "subscriber",
    description: "Somebody, or a program, who is told what happens on a status page.",
    fields: &[
        Field::required("page_id", Shape::Id(PageId::PREFIX), "Status page that is subscribed to."),
        Field::optional(
            "email",
            Shape::EmailAddress { max: EMAIL_CHARS_MAX },
            "Address that emails go to; either this or webhook_url.",
        ),
        Field::optional(
            "webhook_url",
            Shape::HttpUrl { max: TARGET_CHARS_MAX },
            "URL that signed webhooks go to; either this or email.",
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
            "Components that are heard of; left out, it is all of the page.",
        ),
        Field::optional(
            "topics",
            Shape::SetOf(Topic::WORDS),
            "What is heard of; left out, it is reports and maintenance.",
        ),
        Field::output("id", Shape::Id(SubscriberId::PREFIX), "Identifier of the subscriber."),
        Field::output("kind", Shape::OneOf(SubscriberKind::WORDS), "How the subscriber is told."),
        Field::output(
            "state",
            Shape::OneOf(SubscriberState::WORDS),
            "Whether the subscriber said yes already.",
        ),
        Field::output("created_at", Shape::Instant, "When the subscriber was added."),
        Field::output("confirmed_at", Shape::Instant, "Since when the subscriber is told."),
        Field::output(
            "not_told_because",
            Shape::OneOf(NotTold::WORDS),
            "Why the subscriber is told nothing at the moment.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};
