//! The kinds of channels: calls the file of each. A kind exports `KIND`, and `rules` has the list.

use rules::ProviderType;
use rules::notification::Provider;

use super::alert_text::AlertText;
use super::event::EventBatch;
use super::message::{Disposition, Envelope, Message, VendorResponse};
use super::vendors::{Unconfigured, VendorConfig};

/// Everything that a kind's format may need of an alert.
pub(super) struct OutgoingAlert<'a> {
    pub(super) text: AlertText,
    pub(super) batch: EventBatch<'a>,
    pub(super) envelope: &'a Envelope<'a>,
    pub(super) config: &'a VendorConfig,
}

/// One kind of channel with settings of the type `S`.
pub(super) struct Kind<S> {
    /// Builds the message that the vendor documents, within all its limits. It is only called if
    /// no setting is missing.
    compose: fn(&S, &OutgoingAlert<'_>) -> Message,
    vendor: Vendor,
}

/// Properties of a kind that are independent of a channel's settings.
#[derive(Clone, Copy)]
pub(super) struct Vendor {
    /// Whether the vendor keeps an alert open until it is closed.
    pub(super) is_stateful: bool,
    /// The setting with the server's account; `None` if channels have their own.
    pub(super) account: Option<&'static str>,
    /// Returns the setting that this server lacks for sending.
    pub(super) missing_setting: fn(&VendorConfig) -> Option<&'static str>,
    /// Interprets the vendor's responses.
    pub(super) classify: fn(&VendorResponse) -> Disposition,
}

impl<S> Kind<S> {
    /// Creates a kind that keeps no alerts open and whose channels have their own accounts.
    pub(super) const fn new(
        compose: fn(&S, &OutgoingAlert<'_>) -> Message,
        classify: fn(&VendorResponse) -> Disposition,
    ) -> Self {
        let missing_setting = |_: &VendorConfig| None;
        let vendor = Vendor { is_stateful: false, account: None, missing_setting, classify };
        Self { compose, vendor }
    }

    /// Marks a kind whose vendor keeps an alert open until it is closed.
    pub(super) const fn stateful(mut self) -> Self {
        self.vendor.is_stateful = true;
        self
    }

    /// Marks a kind that sends through an account of the server.
    pub(super) const fn with_account(
        mut self,
        account: &'static str,
        missing_setting: fn(&VendorConfig) -> Option<&'static str>,
    ) -> Self {
        self.vendor.account = Some(account);
        self.vendor.missing_setting = missing_setting;
        self
    }
}

/// Declares the calls of all kinds.
macro_rules! calls {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        /// Composes the message by the file of the channel's kind.
        pub(super) fn compose(provider: &Provider, alert: &OutgoingAlert<'_>) -> Message {
            match provider {
                $(Provider::$variant(settings) => (super::$block::KIND.compose)(settings, alert),)+
            }
        }

        /// Returns the properties of a kind.
        pub(super) const fn vendor(kind: ProviderType) -> Vendor {
            match kind {
                $(ProviderType::$variant => super::$block::KIND.vendor,)+
            }
        }
    };
}

rules::channel_kinds!(calls);

/// Returns the setting with the server's account for channels of this kind, or `None` if channels
/// have their own.
pub const fn account(kind: ProviderType) -> Option<&'static str> {
    vendor(kind).account
}

impl VendorConfig {
    /// Returns the missing setting for channels of this kind, with which [`super::compose`] would
    /// fail; `None` if they can send.
    pub fn missing_setting(&self, kind: ProviderType) -> Option<Unconfigured> {
        let setting = (vendor(kind).missing_setting)(self)?;
        Some(Unconfigured { kind, setting })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::tests::{CHANNEL, a_channel, an_event, vendors};
    use crate::notify::{EventKind, TwilioAccount, compose};

    #[test]
    fn missing_setting_equals_compose_error() {
        let full = vendors();
        let without = |change: fn(&mut TwilioAccount)| {
            let mut vendors = full.clone();
            change(vendors.twilio.as_mut().unwrap());
            vendors
        };
        let all = [
            VendorConfig::default(),
            without(|account| account.sms_from = None),
            without(|account| account.whatsapp_from = None),
            full.clone(),
        ];
        let event = an_event(EventKind::Error);
        for vendors in all {
            for &kind in ProviderType::ALL {
                let envelope = Envelope {
                    channel: CHANNEL,
                    key: "key",
                    thread: "thread",
                    now: event.at,
                    signing: &[],
                    link: None,
                };
                let composed =
                    compose(&a_channel(kind), None, &vendors, EventBatch::One(&event), &envelope);
                assert_eq!(composed.err(), vendors.missing_setting(kind), "{kind}");
            }
        }
        assert_eq!(
            VendorConfig::default().missing_setting(ProviderType::Sms).unwrap().to_string(),
            "channels of the kind `sms` cannot send on this server: set `ALOFT_TWILIO_ACCOUNT`"
        );
    }
}
