//! Where a courier goes: a channel with its settings, or a subscriber with its page. Both are told over
//! the same ways, in the same places, and their answers are read alike.

use domain::notify::{Cover, Links, Notice, compose_news};
use rules::notification::Channel;
use rules::status_page::SubscriberKind;
use rules::{ProviderType, Secret, Timestamp};
use store::{Addressee, Receiving, Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::parcel::Parcel;
use super::send::{Sender, Sent, Target};
use crate::status_page::{PageAddress, Purpose};

/// Where a courier goes, with the secrets that webhooks are signed with, newest first.
pub(super) enum Destination {
    Channel(Box<Channel>, Vec<Secret<Vec<u8>>>),
    Subscriber(Box<Receiving>, Vec<Secret<Vec<u8>>>),
}

impl Destination {
    /// Where it is; `None` where it was deleted.
    pub(super) async fn find(
        store: &Store,
        addressee: Addressee,
        now: Timestamp,
    ) -> Result<Option<Self>, StoreError> {
        match addressee {
            Addressee::Channel(id) => {
                let Some(channel) = store.channels().for_sending(id).await? else {
                    return Ok(None);
                };
                let signing = if channel.settings.provider.kind() == ProviderType::Webhook {
                    store.signing_secrets().of(channel.workspace, now).await?
                } else {
                    Vec::new()
                };
                Ok(Some(Self::Channel(Box::new(channel), signing)))
            }
            Addressee::Subscriber(id) => {
                let Some(receiving) = store.subscribers().receiving(id).await? else {
                    return Ok(None);
                };
                let workspace = receiving.subscriber.workspace;
                let signing = match receiving.subscriber.settings.destination.kind() {
                    SubscriberKind::Webhook => store.signing_secrets().of(workspace, now).await?,
                    SubscriberKind::Email => Vec::new(),
                };
                Ok(Some(Self::Subscriber(Box::new(receiving), signing)))
            }
            // A messenger goes to pages.
            Addressee::Page(_) => Ok(None),
        }
    }

    pub(super) fn addressee(&self) -> Addressee {
        match self {
            Self::Channel(channel, _) => channel.id.into(),
            Self::Subscriber(receiving, _) => receiving.subscriber.id.into(),
        }
    }

    /// How the receiver answers.
    pub(super) fn kind(&self) -> ProviderType {
        match self {
            Self::Channel(channel, _) => channel.settings.provider.kind(),
            Self::Subscriber(receiving, _) => {
                match receiving.subscriber.settings.destination.kind() {
                    SubscriberKind::Email => ProviderType::Email,
                    SubscriberKind::Webhook => ProviderType::Webhook,
                }
            }
        }
    }

    /// Tells what is in a parcel once, when its turn comes; `None` where `stop` came before.
    pub(super) async fn tell(
        &self,
        sender: &Sender,
        parcel: &Parcel,
        stop: &CancellationToken,
    ) -> Option<Sent> {
        match self {
            Self::Channel(channel, signing) => {
                let events = parcel.events();
                let settings = &channel.settings;
                let target =
                    Target { workspace: channel.workspace, channel: channel.id, settings, signing };
                let notice = match events.as_slice() {
                    [only] if !parcel.is_storm() => Notice::One(only),
                    several => Notice::Storm(several),
                };
                sender.tell(target, notice, parcel.key(), stop).await
            }
            Self::Subscriber(receiving, signing) => {
                let (news, subscriber) = (parcel.news(), &receiving.subscriber);
                let compose = || {
                    let links = links(sender, receiving);
                    let now = sender.ctx.now();
                    let cover = Cover { key: parcel.key(), now, signing, links };
                    compose_news(subscriber, &news, &sender.servers, &cover)
                };
                sender.send_composed((subscriber.workspace, self.kind()), compose, stop).await
            }
        }
    }
}

/// Where a subscriber can go, on a server that people reach.
fn links(sender: &Sender, receiving: &Receiving) -> Option<Links> {
    let origin = sender.public_url.as_deref()?;
    let page = PageAddress::Slug(receiving.slug.clone()).url(Some(origin));
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
