//! A channel as sent by a caller: not validated, every field optional, any number of blocks. RPC,
//! the Terraform provider and the command line create drafts; [`ChannelDraft::parse`] validates them.

use super::{BlockDrafts, ChannelSettings, NotificationPreferencesDraft};

/// Arguments and blocks of a channel, as written; `None` and empty lists mean omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelDraft {
    pub name: Option<String>,
    /// A name of [`crate::ProviderType`].
    pub provider_type: Option<String>,
    pub monitor_ids: Vec<String>,
    pub blocks: BlockDrafts,
    pub preferences: NotificationPreferencesDraft,
}

impl From<&ChannelSettings> for ChannelDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &ChannelSettings) -> Self {
        Self {
            name: settings.name.clone(),
            provider_type: Some(settings.provider.kind().to_string()),
            monitor_ids: settings.monitor_ids.iter().map(ToString::to_string).collect(),
            blocks: (&settings.provider).into(),
            preferences: (&settings.preferences).into(),
        }
    }
}
