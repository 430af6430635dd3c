//! Destination of a delivery: a channel with its settings, or a subscriber who is allowed to see
//! the page now. Both use the same transports and limits, and their responses are classified alike.

use domain::notify::{Cover, Links, Notice, compose_news};
use rules::notification::Channel;
use rules::status_page::{NotTold, SubscriberKind};
use rules::{ProviderType, Secret, Timestamp};
use store::{Addressee, DomainCertificate, Receiving, Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::parcel::Parcel;
use super::send::{Sender, Sent, Target};
use crate::status_page::{PageAddress, Purpose};

/// Destination of a delivery, with the signing secrets of webhooks, newest first.
pub(super) enum Destination {
    Channel(Box<Channel>, Vec<Secret<Vec<u8>>>),
    Subscriber(Box<Receiving>, Home, Vec<Secret<Vec<u8>>>),
}

/// Result of looking up a recipient.
pub(super) enum Found {
    Is(Box<Destination>),
    /// The recipient was deleted.
    Nobody,
    /// The subscriber is suppressed.
    NotTold(NotTold),
}

/// Address of a subscriber's page.
pub(super) struct Home(PageAddress);

impl Destination {
    /// Looks up the destination of a recipient.
    pub(super) async fn find(
        store: &Store,
        addressee: Addressee,
        now: Timestamp,
    ) -> Result<Found, StoreError> {
        match addressee {
            Addressee::Channel(id) => {
                let Some(channel) = store.channels().for_sending(id).await? else {
                    return Ok(Found::Nobody);
                };
                let signing = if channel.settings.provider.kind() == ProviderType::Webhook {
                    store.signing_secrets().of(channel.workspace, now).await?
                } else {
                    Vec::new()
                };
                Ok(Found::Is(Box::new(Self::Channel(Box::new(channel), signing))))
            }
            Addressee::Subscriber(id) => {
                let Some(receiving) = store.subscribers().receiving(id).await? else {
                    return Ok(Found::Nobody);
                };
                match receiving.not_told {
                    // Subscribers who have not confirmed yet get the confirmation request.
                    None | Some(NotTold::Pending) => {}
                    Some(why @ (NotTold::Hidden | NotTold::Domain | NotTold::Password)) => {
                        return Ok(Found::NotTold(why));
                    }
                }
                let home = Home::of(store, &receiving, now).await?;
                let workspace = receiving.subscriber.workspace;
                let signing = match receiving.subscriber.settings.destination.kind() {
                    SubscriberKind::Webhook => store.signing_secrets().of(workspace, now).await?,
                    SubscriberKind::Email => Vec::new(),
                };
                let receiving = Box::new(receiving);
                Ok(Found::Is(Box::new(Self::Subscriber(receiving, home, signing))))
            }
            // Deliveries to pages are handled by the fan-out worker.
            Addressee::Page(_) => Ok(Found::Nobody),
        }
    }

    pub(super) fn addressee(&self) -> Addressee {
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

    /// Sends a message once, in its turn. `read_at` is a link to more details.
    ///
    /// Returns `None` if `stop` is cancelled first.
    pub(super) async fn tell(
        &self,
        sender: &Sender,
        parcel: &Parcel,
        read_at: Option<&str>,
        stop: &CancellationToken,
    ) -> Option<Sent> {
        match self {
            Self::Channel(channel, signing) => {
                let events = parcel.events();
                let settings = &channel.settings;
                let target = Target {
                    workspace: channel.workspace,
                    channel: channel.id,
                    settings,
                    signing,
                    read_at,
                };
                let notice = match events.as_slice() {
                    [only] if !parcel.is_storm() => Notice::One(only),
                    several => Notice::Storm(several),
                };
                sender.tell(target, notice, parcel.key(), stop).await
            }
            Self::Subscriber(receiving, home, signing) => {
                let (news, subscriber) = (parcel.news(), &receiving.subscriber);
                let compose = || {
                    let links = home.links(sender, receiving);
                    let now = sender.ctx.now();
                    let cover = Cover { key: parcel.key(), now, signing, links };
                    compose_news(subscriber, &news, &sender.servers, &cover)
                };
                sender.send_composed((subscriber.workspace, self.kind()), compose, stop).await
            }
        }
    }
}

impl Home {
    /// Returns the address of a page. A page's custom domain is preferred, unless this server
    /// manages its certificate and has no valid one. The page is then linked by its slug.
    async fn of(store: &Store, receiving: &Receiving, now: Timestamp) -> Result<Self, StoreError> {
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
    fn links(&self, sender: &Sender, receiving: &Receiving) -> Option<Links> {
        let origin = sender.public_url.as_deref()?;
        let page = self.0.url(Some(origin));
        let ticket = |purpose: Purpose| {
            format!("{page}/{purpose}/{}", sender.tickets.issue(purpose, receiving.subscriber.id))
        };
        Some(Links {
            confirm: ticket(Purpose::Confirm),
            manage: ticket(Purpose::Manage),
            unsubscribe: ticket(Purpose::Unsubscribe),
            page,
        })
    }
}
