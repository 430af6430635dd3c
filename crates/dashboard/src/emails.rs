//! Emails to people about their accounts. `email_queue` sends them in the background.

use askama::Template;
use domain::notify::{ListLinks, Mail};
use rules::UserId;

use crate::html::render;
use crate::state::Dashboard;

/// Email about an account.
#[derive(Clone, Debug)]
pub(crate) struct AccountEmail {
    /// Address, which may differ from that of the account.
    pub(crate) to: String,
    pub(crate) subject: &'static str,
    pub(crate) text: String,
    pub(crate) link: Option<EmailLink>,
}

/// Link of an email.
#[derive(Clone, Debug)]
pub(crate) struct EmailLink {
    pub(crate) label: &'static str,
    pub(crate) url: String,
}

#[derive(Template)]
#[template(path = "email.html")]
struct EmailPage<'a> {
    email: &'a AccountEmail,
}

impl Dashboard {
    /// Sends an email to a user in the background, if this server can send emails.
    pub(crate) fn email_later(&self, user: UserId, email: AccountEmail) {
        if !self.backend.can_send_emails() {
            return;
        }
        let state = self.clone();
        self.emails.run(async move {
            if let Err(why) = state.email(user, &email).await {
                tracing::error!("failed to send the email “{}”: {why}", email.subject);
            }
        });
    }

    /// Waits a while for the emails in progress, when the server stops.
    pub async fn finish_emails(&self) {
        self.emails.finish().await;
    }

    /// Sends an email to a user, on behalf of one of their workspaces.
    pub(crate) async fn email(&self, user: UserId, email: &AccountEmail) -> Result<(), String> {
        let memberships = self.store.users().memberships(user).await;
        let memberships = memberships.map_err(|error| error.to_string())?;
        let first = memberships.first().ok_or("the user has no workspace")?;
        self.backend.send_email(first.workspace.id, email.compose(self)).await
    }
}

impl AccountEmail {
    fn compose(&self, state: &Dashboard) -> Mail {
        let id = format!("account-{:016x}", state.ctx.random());
        let link = self.link.as_ref().map_or_else(String::new, |it| format!("{}\n\n", it.url));
        Mail {
            to: self.to.clone(),
            subject: self.subject.to_owned(),
            text: format!("{}\n\n{link}", self.text),
            html: render(&EmailPage { email: self }),
            thread: id.clone(),
            id,
            list: ListLinks::None,
        }
    }
}
