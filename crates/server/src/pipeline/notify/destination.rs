//! Where a courier goes: a channel with its settings, or a subscriber with its page, as far as it may hear
//! of that at this moment. Both are told over the same ways, in the same places, and their answers are
//! read alike.

use domain::notify::{Cover, Links, Notice, compose_news};
use rules::notification::Channel;
use rules::status_page::{NotTold, SubscriberKind};
use rules::{ProviderType, Secret, Timestamp};
use store::{Addressee, DomainCertificate, Receiving, Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::parcel::Parcel;
use super::send::{Sender, Sent, Target};
use crate::status_page::{PageAddress, Purpose};

/// Where a courier goes, with the secrets that webhooks are signed with, newest first.
pub(super) enum Destination {
    Channel(Box<Channel>, Vec<Secret<Vec<u8>>>),
    Subscriber(Box<Receiving>, Home, Vec<Secret<Vec<u8>>>),
}

/// Whom a courier finds.
pub(super) enum Found {
    /// Who is told.
    Is(Box<Destination>),
    /// Nobody: it was deleted.
    Nobody,
    /// Who may not hear of its page any more.
    NotTold(NotTold),
}

/// Where the page of a subscriber is reached.
pub(super) struct Home(PageAddress);

impl Destination {
    /// Where it is.
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
                    // Whoever did not confirm yet is asked.
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
            // A messenger goes to pages.
            Addressee::Page(_) => Ok(Found::Nobody),
        }
    }

    pub(super) fn addressee(&self) -> Addressee {
        match self {
            Self::Channel(channel, _) => channel.id.into(),
            Self::Subscriber(receiving, ..) => receiving.subscriber.id.into(),
        }
    }

    /// How the receiver answers.
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

    /// Tells what is in a parcel once, when its turn comes; `read_at` is where people read more of it.
    /// `None` where `stop` came before.
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
    /// A page that has a domain is read there, unless this server makes its certificate and has none that
    /// holds: nobody comes in there, and the page is at its slug as well.
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

    /// Where a subscriber can go, on a server that people reach.
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
