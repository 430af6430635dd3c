//! Status pages, their components and component groups (§2.5–2.7): what a user wrote of each (the
//! drafts), and the same once every rule held (the settings). What only the stored things can show,
//! such as a slug that is taken, is asked by `store`; what a visitor sees belongs to `domain`.

mod component;
mod group;
mod page;
mod subscriber;

pub use component::{Component, ComponentDraft, ComponentSettings};
pub(crate) use component::{fixed, reference};
pub use group::{ComponentGroup, GroupDraft, GroupSettings};
pub use page::{PageDraft, PageSettings, StatusPage};
pub use subscriber::{
    Admission, Components, Destination, Language, NotTold, Subscriber, SubscriberDraft,
    SubscriberKind, SubscriberSettings, SubscriberState, Topic,
};

/// What a `page_id` must be, as the end of a sentence.
pub const A_PAGE: &str = "must be a status page of this workspace";
/// What each of `component_ids` must be, as the end of a sentence.
pub const A_COMPONENT: &str = "may only name components of the status page";
/// What a `monitor_id` must be, as the end of a sentence.
pub const A_MONITOR: &str = "must be a monitor of this workspace";
/// What a `group_id` must be, as the end of a sentence.
pub const A_GROUP: &str = "must be a component group of the same status page";
