//! Conversion of the fields of a message to the fields of a draft and back. The types of the two decide
//! it, and the table of a resource decides what read keys see.

use rules::Secret;
use rules::field::{Block, Field, Redaction, Resource, Shape};
use rules::monitor::HeaderDraft;
use url::Url;

/// Visibility of the values that the tables redact for read keys (design §4, §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretVisibility {
    /// For write keys: secrets are returned as they were sent.
    Visible,
    /// For read keys: names without values, URLs without credentials and query, and shortened email
    /// addresses.
    Redacted,
}

/// A field of a draft that the field `Wire` of a message carries.
pub(crate) trait WireField<Wire> {
    /// Decodes the field of a request.
    fn decode(wire: Wire) -> Self;

    /// Encodes the field `name` for a response.
    fn encode(self, encoder: FieldEncoder, name: &str) -> Wire;
}

/// A block of a draft that the message `Wire` carries.
pub(crate) trait WireBlock<Wire> {
    /// Decodes the block of a request.
    fn decode(wire: Wire) -> Self;

    /// Encodes the block for a response.
    fn encode(self, encoder: FieldEncoder) -> Wire;
}

/// Encodes the fields of one resource or block by its table.
#[derive(Clone, Copy)]
pub(crate) struct FieldEncoder {
    fields: &'static [Field],
    blocks: &'static [Block],
    secrets: SecretVisibility,
}

impl FieldEncoder {
    /// Creates the encoder of a resource.
    pub(crate) fn for_resource(resource: &'static Resource, secrets: SecretVisibility) -> Self {
        Self { fields: resource.fields, blocks: resource.blocks, secrets }
    }

    /// Returns the encoder of a block of this resource or block.
    pub(crate) fn block(self, name: &str) -> Self {
        let block = self.blocks.iter().find(|block| block.name == name);
        let block = block.expect("tables and messages have the same blocks");
        Self { fields: block.fields, blocks: block.blocks, secrets: self.secrets }
    }

    /// Returns the text as this key may see it.
    #[inline]
    fn text(self, name: &str, text: String) -> Option<String> {
        if self.secrets == SecretVisibility::Visible {
            return Some(text);
        }
        let field = self.fields.iter().find(|field| field.name == name);
        let field = field.expect("tables and messages have the same fields");
        match field.redaction {
            Redaction::Absent => None,
            Redaction::Text => Some(encode_text(&text, self.secrets)),
            Redaction::Path => Some(encode_endpoint(&text, self.secrets)),
            Redaction::None if matches!(field.shape, Shape::HttpUrl { .. }) => {
                Some(encode_url(&text, self.secrets))
            }
            Redaction::None => Some(text),
        }
    }
}

impl WireField<Option<String>> for Option<String> {
    #[inline]
    fn decode(wire: Self) -> Self {
        wire
    }

    #[inline]
    fn encode(self, encoder: FieldEncoder, name: &str) -> Self {
        encoder.text(name, self?)
    }
}

impl WireField<Option<String>> for Option<Secret<String>> {
    #[inline]
    fn decode(wire: Option<String>) -> Self {
        wire.map(Secret::new)
    }

    #[inline]
    fn encode(self, encoder: FieldEncoder, name: &str) -> Option<String> {
        encoder.text(name, self?.expose().clone())
    }
}

/// Declares types without secrets, which messages and drafts share.
macro_rules! same {
    ($($plain:ty),+) => {$(
        impl WireField<$plain> for $plain {
            #[inline]
            fn decode(wire: Self) -> Self {
                wire
            }

            #[inline]
            fn encode(self, _: FieldEncoder, _: &str) -> Self {
                self
            }
        }
    )+};
}

same!(Option<bool>, Option<i32>, Vec<String>);

impl<Draft: WireBlock<Wire>, Wire> WireField<Vec<Wire>> for Vec<Draft> {
    #[inline]
    fn decode(wire: Vec<Wire>) -> Self {
        wire.into_iter().map(Draft::decode).collect()
    }

    #[inline]
    fn encode(self, encoder: FieldEncoder, name: &str) -> Vec<Wire> {
        if self.is_empty() {
            return Vec::new();
        }
        let encoder = encoder.block(name);
        self.into_iter().map(|block| block.encode(encoder)).collect()
    }
}

/// Declares the conversions of blocks with these fields.
macro_rules! wire_blocks {
    ($($wire:ty, $draft:ident { $($field:ident),+ })+) => {$(
        impl $crate::fields::WireBlock<$wire> for $draft {
            #[inline]
            fn decode(wire: $wire) -> Self {
                Self { $($field: $crate::fields::WireField::decode(wire.$field),)+ }
            }

            #[inline]
            fn encode(self, encoder: $crate::fields::FieldEncoder) -> $wire {
                type Wire = $wire;
                Wire { $($field: $crate::fields::WireField::encode(
                    self.$field, encoder, stringify!($field),
                ),)+ }
            }
        }
    )+};
}

pub(crate) use wire_blocks;

wire_blocks! {
    proto::monitor::v1::Header, HeaderDraft { key, value }
    proto::notification::v1::Header, HeaderDraft { key, value }
}

/// Encodes a URL or a relative reference. Read keys get no credentials, and `…` instead of a query,
/// which may contain a token.
pub fn encode_url(written: &str, secrets: SecretVisibility) -> String {
    if secrets == SecretVisibility::Visible {
        return written.to_owned();
    }
    let mut shown = match Url::parse(written) {
        Ok(mut url) if !url.username().is_empty() || url.password().is_some() => {
            // A URL with credentials permits removing them.
            let _ = url.set_password(None);
            let _ = url.set_username("");
            url.into()
        }
        Ok(_) | Err(_) => written.to_owned(),
    };
    if let Some(query) = shown.find('?') {
        shown.truncate(query);
        shown.push_str("?…");
    }
    shown
}

/// Encodes a secret text. Read keys get `…` unless it is empty.
pub fn encode_text(written: &str, secrets: SecretVisibility) -> String {
    if secrets == SecretVisibility::Visible || written.is_empty() {
        return written.to_owned();
    }
    "…".to_owned()
}

/// Encodes the URL of a webhook. Read keys get only its origin, because the path is often its only
/// secret.
pub fn encode_endpoint(written: &str, secrets: SecretVisibility) -> String {
    if secrets == SecretVisibility::Visible {
        return written.to_owned();
    }
    let origin = Url::parse(written).ok().map(|url| url.origin().ascii_serialization());
    origin.map(|origin| format!("{origin}/…")).unwrap_or_default()
}

/// Encodes an email address. A read key gets its first character and its domain.
pub fn encode_address(address: &str, secrets: SecretVisibility) -> String {
    match (secrets, address.rsplit_once('@')) {
        (SecretVisibility::Redacted, Some((user, domain))) => {
            let first: String = user.chars().take(1).collect();
            format!("{first}…@{domain}")
        }
        (SecretVisibility::Redacted, None) => String::new(),
        (SecretVisibility::Visible, _) => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rules::tables::{HEARTBEAT_MONITOR, HTTP_MONITOR, NOTIFICATION};

    use super::*;
    use crate::rpc::redacted_fields;

    /// Returns the fields of a message that may be hidden, with those of its headers.
    fn hidden(package: &str, message: &str, fields: &[Field], blocks: &[Block]) -> Vec<String> {
        let own = fields.iter().filter(|field| is_hidden(field));
        let own = own.map(|field| format!("{package}.{message}.{}", field.name));
        let headers = blocks.iter().filter(|block| block.name == "headers");
        let headers = headers.flat_map(|block| hidden(package, "Header", block.fields, &[]));
        own.chain(headers).collect()
    }

    fn is_hidden(field: &Field) -> bool {
        field.is_absent_for_readers() || field.is_masked_for_readers()
    }

    // issue 16: "Define what read keys see once, as an annotation in the contract that a test walks"
    #[test]
    fn contract_marks_the_fields_that_tables_hide() {
        let mut in_tables =
            hidden("monitor.v1", "HttpMonitor", HTTP_MONITOR.fields, HTTP_MONITOR.blocks);
        in_tables.extend(hidden("monitor.v1", "HeartbeatMonitor", HEARTBEAT_MONITOR.fields, &[]));
        for block in NOTIFICATION.blocks {
            let message: String = block.name.split('_').map(capitalized).collect();
            in_tables.extend(hidden("notification.v1", &message, block.fields, block.blocks));
        }
        let in_tables: BTreeSet<String> = in_tables.into_iter().collect();
        let marked = redacted_fields().into_iter();
        let marked = marked
            .filter(|it| ["monitor.v1.", "notification.v1."].iter().any(|at| it.starts_with(at)));
        assert_eq!(marked.collect::<BTreeSet<_>>(), in_tables);
    }

    fn capitalized(word: &str) -> String {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    }
}
