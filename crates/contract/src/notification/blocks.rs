//! Converts the block of a channel between wire and draft, for each registered kind.

use rules::argument::Settings;
use rules::notification::{BlockDrafts, Provider};
use rules::tables;

use super::wire;
use crate::fields::{FieldEncoder, SecretVisibility, WireField};

/// Declares the conversions of all kinds.
macro_rules! blocks {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        /// Decodes the blocks of a request.
        pub(super) fn decode(wire: &mut wire::Notification) -> BlockDrafts {
            let mut blocks = BlockDrafts::default();
            $(if let Some(block) = wire.$block.take() {
                let draft = blocks.$block.get_or_insert_default();
                $(draft.$field = WireField::decode(block.$field);)+
            })+
            blocks
        }

        /// Sets the block of the channel's provider.
        pub(super) fn encode(
            wire: &mut wire::Notification,
            provider: &Provider,
            secrets: SecretVisibility,
        ) {
            let encoder = FieldEncoder::for_resource(&tables::NOTIFICATION, secrets);
            let encoder = encoder.block(provider.kind().as_str());
            match provider {$(
                Provider::$variant(settings) => {
                    let draft = settings.draft();
                    wire.$block = wire::$variant {
                        $($field: WireField::encode(draft.$field, encoder, stringify!($field)),)+
                    }
                    .into();
                }
            )+}
        }
    };
}

rules::channel_kinds!(blocks);
