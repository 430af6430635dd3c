//! The block of a channel: one of the registered kinds, as settings and as written.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::settings::{
    Email, IncomingWebhook, Ntfy, Opsgenie, Pagerduty, Phone, Telegram, Webhook,
};
use crate::argument::Settings;
use crate::field::Shape;
use crate::mask::replace;
use crate::{ProviderType, Secret, Validator, tables};

/// Declares [`Provider`] and [`BlockDrafts`] with a variant and a field per kind.
macro_rules! provider {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        /// The provider of a channel, with its settings: the one block of §2.4. Its JSON contains
        /// the secrets and is only for the store's vault.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Provider {
            $(#[doc = $description] $variant($settings),)+
        }

        /// The blocks of a draft, as written: any number of them.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct BlockDrafts {
            $(#[doc = $description] pub $block: Option<<$settings as Settings>::Draft>,)+
        }

        impl Provider {
            /// Returns the kind of provider.
            pub const fn kind(&self) -> ProviderType {
                match self { $(Self::$variant(_) => ProviderType::$variant,)+ }
            }

            /// Returns the value of the field that the table marks as sensitive.
            pub fn secret(&self) -> Option<&Secret<String>> {
                match self { $(Self::$variant(settings) => settings.secret(),)+ }
            }

            fn texts(&self) -> Vec<(&'static str, &str)> {
                match self { $(Self::$variant(settings) => settings.texts(),)+ }
            }
        }

        impl BlockDrafts {
            /// Returns whether the block `name` is given.
            pub(super) fn has(&self, name: &str) -> bool {
                match name { $($name => self.$block.is_some(),)+ _ => false }
            }

            /// Removes the block of this kind.
            pub(super) fn clear(&mut self, kind: ProviderType) {
                match kind { $(ProviderType::$variant => self.$block = None,)+ }
            }

            /// Copies the blocks that are `named` from `other`.
            pub(super) fn apply_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
                $(replace(&mut self.$block, other.$block, named($name));)+
            }

            /// Validates every given block, to report all violations at once, and returns the one
            /// of this kind.
            pub(super) fn read(
                self,
                validator: &mut Validator,
                kind: Option<ProviderType>,
            ) -> Option<Provider> {
                $(let $block = validator.block_of($name, self.$block, $settings::read);)+
                match kind? { $(ProviderType::$variant => $block.map(Provider::$variant),)+ }
            }
        }

        impl From<&Provider> for BlockDrafts {
            /// Creates the block that reads as this provider.
            fn from(provider: &Provider) -> Self {
                let mut blocks = Self::default();
                match provider {
                    $(Provider::$variant(settings) => blocks.$block = Some(settings.draft()),)+
                }
                blocks
            }
        }
    };
}

crate::channel_kinds!(provider);

impl Provider {
    /// Returns the IP address in the block's URL with the name of its field, if the host is an
    /// address. Names are resolved only when a message is sent.
    pub fn literal_address(&self) -> Option<(&'static str, IpAddr)> {
        let fields = tables::NOTIFICATION.block(self.kind().as_str()).fields;
        let is_url = |name: &str| {
            fields
                .iter()
                .any(|field| field.name == name && matches!(field.shape, Shape::HttpUrl { .. }))
        };
        let (name, url) = self.texts().into_iter().find(|(name, _)| is_url(name))?;
        literal_address(url).map(|address| (name, address))
    }
}

/// Returns the host of a URL if it is an IP address.
pub fn literal_address(url: &str) -> Option<IpAddr> {
    match url::Url::parse(url).ok()?.host()? {
        url::Host::Ipv4(address) => Some(address.into()),
        url::Host::Ipv6(address) => Some(address.into()),
        url::Host::Domain(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_the_sensitive_field_of_the_table() {
        for block in tables::NOTIFICATION.blocks {
            let mut fields =
                serde_json::Map::from_iter([("headers".to_owned(), [0; 0][..].into())]);
            for field in block.fields {
                let value = if field.name == "region" { "us" } else { field.name };
                fields.insert(field.name.to_owned(), value.into());
            }
            let provider = serde_json::json!({ block.name: fields });
            let provider: Provider = serde_json::from_value(provider).unwrap();
            let secret = provider.secret().map(|secret| secret.expose().as_str());
            let sensitive = block.fields.iter().filter(|field| field.sensitive);
            let sensitive: Vec<&str> = sensitive.map(|field| field.name).collect();
            assert_eq!(Vec::from_iter(secret), sensitive, "{}", block.name);
        }
    }
}
