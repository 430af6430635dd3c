//! Validates a draft by every rule of §2.4 in the table.

use super::{ChannelDraft, ChannelSettings, NotificationPreferences};
use crate::{MonitorId, ProviderType, Validator, Violations, limits, tables};

/// The field with monitors.
pub const MONITORS: &str = "monitor_ids";
/// Allowed values of that field; the store checks whether a monitor exists.
pub const MONITORS_ALLOWED: &str = "may only name monitors of this workspace";

impl ChannelDraft {
    /// Validates the draft; returns all violations. Does not check whether its monitors exist.
    pub fn parse(mut self) -> Result<ChannelSettings, Violations> {
        let preferences = std::mem::take(&mut self.preferences).parse();
        let mut validator = Validator::new(&tables::NOTIFICATION);
        let settings = settings(&mut validator, self);
        match (validator.finish(settings), preferences) {
            (Ok(settings), Ok(preferences)) => Ok(ChannelSettings { preferences, ..settings }),
            (Ok(_), Err(wrong)) | (Err(wrong), Ok(_)) => Err(wrong),
            (Err(first), Err(second)) => {
                let all = first.0.into_iter().chain(second.0);
                Err(Violations(all.take(limits::VIOLATIONS_MAX).collect()))
            }
        }
    }
}

fn settings(validator: &mut Validator, draft: ChannelDraft) -> Option<ChannelSettings> {
    let kind: Option<ProviderType> = validator.word("provider_type", draft.provider_type);
    validator.check_rules(|_| kind.map(ProviderType::as_str), |block| draft.blocks.has(block));
    let name = validator.text("name", draft.name);
    let monitor_ids = monitors(validator, draft.monitor_ids);
    let provider = draft.blocks.read(validator, kind);
    Some(ChannelSettings {
        name,
        monitor_ids,
        provider: provider?,
        preferences: NotificationPreferences::default(),
    })
}

/// Parses monitor IDs. Rejects IDs that do not parse.
fn monitors(validator: &mut Validator, given: Vec<String>) -> Vec<MonitorId> {
    let given = validator.id_set(MONITORS, given);
    let mut monitors = Vec::with_capacity(given.len());
    for id in given {
        match MonitorId::parse(&id) {
            Ok(id) => monitors.push(id),
            Err(_) => {
                monitors.extend(validator.refuse::<MonitorId>(MONITORS, id, MONITORS_ALLOWED));
            }
        }
    }
    monitors
}
