//! Destination of a delivery: a channel with its settings, or a subscriber who is allowed to see
//! the page now. Both use the same transports and limits, and their responses are classified alike.

use domain::notify::{EventBatch, Links, SubscriberEnvelope, compose_page_event};
use pages::{PageAddress, Purpose};
use rules::notification::Channel;
use rules::status_page::{SubscriberKind, SuppressionReason};
use rules::{ProviderType, Secret, Timestamp};
use store::{DomainCertificate, Recipient, Store, StoreError, SubscriberWithPage};
use tokio_util::sync::CancellationToken;

use super::outcome::AttemptOutcome;
use super::outgoing::OutgoingMessage;
use super::send::{SendTarget, Sender};

/// Destination of a delivery, with the signing secrets of webhooks, newest first.
pub(super) enum Destination {
    Channel(Box<Channel>, Vec<Secret<Vec<u8>>>),
    Subscriber(Box<SubscriberWithPage>, PageLinks, Vec<Secret<Vec<u8>>>),
}

/// Result of looking up a recipient.
pub(super) enum DestinationLookup {
    Found(Box<Destination>),
    /// The recipient was deleted.
    Deleted,
    /// The subscriber is suppressed.
    Suppressed(SuppressionReason),
}

/// Address of a subscriber's page.
pub(super) struct PageLinks(PageAddress);

impl Destination {
    /// Looks up the destination of a recipient.
    pub(super) async fn find(
        store: &Store,
        recipient: Recipient,
        now: Timestamp,
    ) -> Result<DestinationLookup, StoreError> {
        match recipient {
            Recipient::Channel(id) => {
                let Some(channel) = store.channels().get_for_sending(id).await? else {
                    return Ok(DestinationLookup::Deleted);
                };
                let signing = if channel.settings.provider.kind() == ProviderType::Webhook {
                    store.signing_secrets().active(channel.workspace, now).await?
                } else {
                    Vec::new()
                };
                Ok(DestinationLookup::Found(Box::new(Self::Channel(Box::new(channel), signing))))
            }
            Recipient::Subscriber(id) => {
                let Some(receiving) = store.subscribers().get_with_page(id).await? else {
                    return Ok(DestinationLookup::Deleted);
                };
                match receiving.suppression_reason {
                    // Subscribers who have not confirmed yet get the confirmation request.
                    None | Some(SuppressionReason::Pending) => {}
                    Some(
                        reason @ (SuppressionReason::Hidden
                        | SuppressionReason::Domain
                        | SuppressionReason::Password),
                    ) => {
                        return Ok(DestinationLookup::Suppressed(reason));
                    }
                }
                let home = PageLinks::for_page(store, &receiving, now).await?;
                let workspace = receiving.subscriber.workspace;
                let signing = match receiving.subscriber.settings.destination.kind() {
                    SubscriberKind::Webhook => {
                        store.signing_secrets().active(workspace, now).await?
                    }
                    SubscriberKind::Email => Vec::new(),
                };
                let receiving = Box::new(receiving);
                Ok(DestinationLookup::Found(Box::new(Self::Subscriber(receiving, home, signing))))
            }
            // Deliveries to pages are handled by the fan-out worker.
            Recipient::Page(_) => Ok(DestinationLookup::Deleted),
        }
    }

    pub(super) fn recipient(&self) -> Recipient {
        match self {
            Self::Channel(channel, _) => channel.id.into(),
            Self::Subscriber(receiving, ..) => receiving.subscriber.id.into(),
        }
    }

    /// Returns the kind that classifies the responses of this receiver.
    pub(super) fn kind(&self) -> ProviderType {
        match self {
            Self::Channel(channel, _) => channel.settings.provider.kind(),
            Self::Subscriber(receiving, ..) => {
                match receiving.subscriber.settings.destination.kind() {
                    SubscriberKind::Email => ProviderType::Email,
                    SubscriberKind::Webhook => ProviderType::Webhook,
                }
            }
        }
    }

    /// Sends a message once, in its turn. `link` is a link to more details.
    ///
    /// Returns `None` if `stop` is cancelled first.
    pub(super) async fn send(
        &self,
        sender: &Sender,
        message: &OutgoingMessage,
        link: Option<&str>,
        stop: &CancellationToken,
    ) -> Option<AttemptOutcome> {
        match self {
            Self::Channel(channel, signing) => {
                let events = message.events();
                let settings = &channel.settings;
                let target = SendTarget {
                    workspace: channel.workspace,
                    channel: channel.id,
                    settings,
                    signing,
                    link,
                };
                let batch = match events.as_slice() {
                    [only] if !message.is_digest() => EventBatch::One(only),
                    several => EventBatch::Digest(several),
                };
                sender.send_batch(target, batch, message.key(), stop).await
            }
            Self::Subscriber(receiving, home, signing) => {
                let (page_events, subscriber) = (message.page_events(), &receiving.subscriber);
                let compose = || {
                    let links = home.links(sender, receiving);
                    let now = sender.ctx.now();
                    let cover = SubscriberEnvelope { key: message.key(), now, signing, links };
                    compose_page_event(subscriber, &page_events, &sender.vendors, &cover)
                };
                sender.send_composed((subscriber.workspace, self.kind()), compose, stop).await
            }
        }
    }
}

impl PageLinks {
    /// Returns the address of a page. A page's custom domain is preferred, unless this server
    /// manages its certificate and has no valid one. The page is then linked by its slug.
    async fn for_page(
        store: &Store,
        receiving: &SubscriberWithPage,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let settings = &receiving.page.settings;
        let slug = || Self(PageAddress::Slug(settings.slug.clone()));
        let Some(domain) = settings.custom_domain_name() else { return Ok(slug()) };
        let known = store.certificates().get(&domain).await?;
        let holds = |known: DomainCertificate| {
            known.issued.is_some_and(|certificate| now < certificate.expires_at)
        };
        let is_reached = known.is_none_or(holds);
        Ok(if is_reached { Self(PageAddress::Domain(domain.to_string())) } else { slug() })
    }

    /// Returns the links of an email to a subscriber, if the server has a public URL.
    fn links(&self, sender: &Sender, receiving: &SubscriberWithPage) -> Option<Links> {
        let origin = sender.public_url.as_deref()?;
        let page = self.0.url(Some(origin));
        let token = |purpose: Purpose| {
            format!("{page}/{purpose}/{}", sender.tokens.issue(purpose, receiving.subscriber.id))
        };
        Some(Links {
            confirm: token(Purpose::Confirm),
            manage: token(Purpose::Manage),
            unsubscribe: token(Purpose::Unsubscribe),
            page,
        })
    }
}
