//! The operator's address, for messages about this server's own network.

use rules::Secret;
use url::Url;

/// Recipient of messages about suspect probes.
#[derive(Clone, Debug)]
pub enum Operator {
    /// Email address.
    Email(String),
    /// Webhook. Its URL may contain a token.
    Webhook(Secret<String>),
}

impl Operator {
    /// Parses an email address or the URL of a webhook.
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with("http://") || text.starts_with("https://") {
            let url = Url::parse(text).ok();
            return url.map(|url| Self::Webhook(Secret::new(url.into())));
        }
        let is_mailbox = rules::tables::SUBSCRIBER.shape_of("email").takes(text);
        is_mailbox.then(|| Self::Email(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_is_a_mailbox_or_a_webhook() {
        assert!(matches!(Operator::parse("ops@example.com"), Some(Operator::Email(_))));
        assert!(matches!(Operator::parse("https://hooks.example/x"), Some(Operator::Webhook(_))));
        for wrong in ["", "ops", "ftp://example.com", "https://"] {
            assert!(Operator::parse(wrong).is_none(), "{wrong}");
        }
    }
}
