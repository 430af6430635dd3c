//! Converts the block of a channel between wire and draft, for each registered kind.

use rules::Secret;
use rules::argument::Settings;
use rules::field::{Block, Shape};
use rules::monitor::HeaderDraft;
use rules::notification::{BlockDrafts, Provider};
use rules::tables;

use super::wire;
use crate::monitor::{SecretVisibility, encode_endpoint, encode_url};

/// A field of a block, as written by a caller.
trait WireValue {
    /// The field of the message.
    type Wire;

    /// Decodes the field of a request.
    fn decode(wire: Self::Wire) -> Self;

    /// Encodes the field for a response. `encoder` hides secrets.
    fn encode(self, encoder: BlockEncoder, name: &str) -> Self::Wire;
}

/// Encodes the fields of one block by its table.
#[derive(Clone, Copy)]
struct BlockEncoder {
    block: &'static Block,
    secrets: SecretVisibility,
}

impl BlockEncoder {
    /// Returns the text as this key may see it.
    fn text(self, name: &str, text: &str) -> Option<String> {
        let field = self.block.fields.iter().find(|field| field.name == name)?;
        if field.sensitive {
            return self.secret(text);
        }
        Some(match (matches!(field.shape, Shape::HttpUrl { .. }), field.hides_path) {
            (true, true) => encode_endpoint(text, self.secrets),
            (true, false) => encode_url(text, self.secrets),
            (false, _) => text.to_owned(),
        })
    }

    /// Returns the secret, or `None` for a read key.
    fn secret(self, text: &str) -> Option<String> {
        (self.secrets == SecretVisibility::Visible).then(|| text.to_owned())
    }
}

impl WireValue for Option<String> {
    type Wire = Self;

    fn decode(wire: Self) -> Self {
        wire
    }

    fn encode(self, encoder: BlockEncoder, name: &str) -> Self {
        encoder.text(name, &self?)
    }
}

impl WireValue for Option<Secret<String>> {
    type Wire = Option<String>;

    fn decode(wire: Option<String>) -> Self {
        wire.map(Secret::new)
    }

    fn encode(self, encoder: BlockEncoder, _: &str) -> Option<String> {
        encoder.secret(self?.expose())
    }
}

impl WireValue for Vec<HeaderDraft> {
    type Wire = Vec<wire::Header>;

    fn decode(wire: Vec<wire::Header>) -> Self {
        let headers = wire.into_iter();
        headers.map(|header| HeaderDraft { key: header.key, value: header.value }).collect()
    }

    fn encode(self, encoder: BlockEncoder, _: &str) -> Vec<wire::Header> {
        let encode = |header: HeaderDraft| wire::Header {
            key: header.key,
            value: header.value.and_then(|value| encoder.secret(&value)),
        };
        self.into_iter().map(encode).collect()
    }
}

/// Declares the conversions of all kinds.
macro_rules! blocks {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        /// Decodes the blocks of a request.
        pub(super) fn decode(wire: &mut wire::Notification) -> BlockDrafts {
            let mut blocks = BlockDrafts::default();
            $(if let Some(block) = wire.$block.take() {
                let draft = blocks.$block.get_or_insert_default();
                $(draft.$field = WireValue::decode(block.$field);)+
            })+
            blocks
        }

        /// Sets the block of the channel's provider.
        pub(super) fn encode(
            wire: &mut wire::Notification,
            provider: &Provider,
            secrets: SecretVisibility,
        ) {
            let block = tables::NOTIFICATION.block(provider.kind().as_str());
            let encoder = BlockEncoder { block, secrets };
            match provider {$(
                Provider::$variant(settings) => {
                    let draft = settings.draft();
                    wire.$block = wire::$variant {
                        $($field: draft.$field.encode(encoder, stringify!($field)),)+
                    }
                    .into();
                }
            )+}
        }
    };
}

rules::channel_kinds!(blocks);
