//! Status pages, their components and component groups (§2.5–2.7): the drafts of a caller and the
//! validated settings. `store` checks what depends on stored objects, such as a slug that is taken;
//! `domain` builds the view for visitors.

mod component;
mod group;
mod page;
mod subscriber;

pub use component::{Component, ComponentDraft, ComponentSettings};
pub(crate) use component::{fixed, reference};
pub use group::{ComponentGroup, GroupDraft, GroupSettings};
pub use page::{PageDraft, PageSettings, StatusPage};
pub use subscriber::{
    AccessProof, ComponentScope, Destination, Subscriber, SubscriberDraft, SubscriberSettings,
};

pub use crate::enums::{Language, SubscriberKind, SubscriberState, SuppressionReason, Topic};

/// Requirement for a `page_id`, as the end of a sentence.
pub const A_PAGE: &str = "must be a status page of this workspace";
/// Requirement for `component_ids`, as the end of a sentence.
pub const A_COMPONENT: &str = "may only name components of the status page";
/// Requirement for a `monitor_id`, as the end of a sentence.
pub const A_MONITOR: &str = "must be a monitor of this workspace";
/// Requirement for a `group_id`, as the end of a sentence.
pub const A_GROUP: &str = "must be a component group of the same status page";
