//! Composes the message of an event for a channel.

use rules::ProviderType;
use rules::notification::Provider;

use super::alert_text::AlertText;
use super::event::EventBatch;
use super::kinds::{self, OutgoingAlert};
use super::message::{Envelope, HttpMessage, Message};
use super::vendors::{Unconfigured, VendorConfig};

/// Composes the message of `batch` for the channel named `channel_name`. It respects every limit
/// that the vendor documents, for any names, addresses and reasons.
///
/// A digest for kinds that [`is_stateful`] would open an alert that nothing closes, but the policy
/// never creates one for them.
pub fn compose(
    provider: &Provider,
    channel_name: Option<&str>,
    config: &VendorConfig,
    batch: EventBatch<'_>,
    envelope: &Envelope<'_>,
) -> Result<Message, Unconfigured> {
    if let Some(missing) = config.missing_setting(provider.kind()) {
        return Err(missing);
    }
    let text = AlertText::new(channel_name, batch, envelope);
    let message = kinds::compose(provider, &OutgoingAlert { text, batch, envelope, config });
    Ok(match message {
        Message::Http(message) => {
            Message::Http(HttpMessage { secret: provider.secret().cloned(), ..message })
        }
        Message::Mail(mail) => Message::Mail(mail),
    })
}

/// Returns whether channels of this kind keep an alert open until it is closed. They group alerts
/// themselves and get no digests. A test alert there is closed by a second message: the same event
/// with [`super::Event::closed`] set.
pub const fn is_stateful(kind: ProviderType) -> bool {
    kinds::vendor(kind).is_stateful
}
