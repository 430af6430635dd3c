//! Drafts of monitors through the public interface: limits, formats, messages, masks, properties.

#[path = "monitor/drafts.rs"]
mod drafts;
#[path = "monitor/forms.rs"]
mod forms;
#[path = "monitor/limits.rs"]
mod limits;
#[path = "monitor/mask.rs"]
mod mask;
#[path = "monitor/messages.rs"]
mod messages;
#[path = "monitor/properties.rs"]
mod properties;
