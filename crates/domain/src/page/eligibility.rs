//! Eligibility of subscribers: only people with access to a page are notified of its events.
//! Visitors prove access to the server, subscribers did so when they subscribed. Webhooks are
//! configured by the owner and need no access.

use rules::AccessType;
use rules::status_page::{AccessProof, Destination, PageSettings, StatusPage, SuppressionReason};

/// Returns whether `destination` may subscribe to a page with these settings. A page for members
/// accepts only addresses of their domains, compared exactly.
pub fn may_subscribe(settings: &PageSettings, destination: &Destination) -> bool {
    match (settings.effective_access(), destination) {
        (AccessType::Public | AccessType::Password, _) | (_, Destination::Webhook(_)) => true,
        (AccessType::EmailDomain, Destination::Email(_)) => destination
            .domain()
            .is_some_and(|domain| settings.member_domains().any(|member| member == domain)),
    }
}

/// Returns why a subscriber is not notified, given the current page. `mark` identifies the page's
/// current password; [`AccessProof::Password`] has the one at the time of subscribing.
pub fn suppression_reason(
    page: &StatusPage,
    mark: Option<&[u8]>,
    (destination, admission): (&Destination, &AccessProof),
) -> Option<SuppressionReason> {
    if !page.published {
        return Some(SuppressionReason::Hidden);
    }
    if !may_subscribe(&page.settings, destination) {
        return Some(SuppressionReason::Domain);
    }
    let has_password = page.settings.effective_access() == AccessType::Password;
    let is_let_in = match (destination, admission) {
        (Destination::Webhook(_), _) | (Destination::Email(_), AccessProof::Owner) => true,
        (Destination::Email(_), AccessProof::Visitor) => !has_password,
        (Destination::Email(_), AccessProof::Password(by)) => {
            !has_password || Some(by.as_slice()) == mark
        }
    };
    (!is_let_in).then_some(SuppressionReason::Password)
}

#[cfg(test)]
mod tests {
    use rules::status_page::PageDraft;
    use rules::{PageId, Secret, Theme, Timestamp, WorkspaceId};

    use super::*;

    fn page(access: &str) -> StatusPage {
        let draft = PageDraft {
            title: Some("Acme".to_owned()),
            slug: Some("acme".to_owned()),
            access_type: Some(access.to_owned()),
            password: Some(Secret::new("open sesame".to_owned())),
            auth_email_domains: vec!["acme.com".to_owned(), "b\u{fc}cher.example".to_owned()],
            ..PageDraft::default()
        };
        let at = Timestamp::from_millis(0);
        StatusPage {
            id: PageId::from_bits(1),
            workspace: WorkspaceId::from_bits(1),
            settings: draft.parse().unwrap(),
            published: true,
            theme: Theme::System,
            allow_indexing: true,
            created_at: at,
            updated_at: at,
        }
    }

    fn at(address: &str) -> Destination {
        Destination::Email(address.to_owned())
    }

    fn by(mark: &[u8]) -> AccessProof {
        AccessProof::Password(mark.to_vec())
    }

    // issue 7: "`email-domain` (…, domains matched exactly)"
    #[test]
    fn members_page_notifies_member_domains_only() {
        let page = page("email-domain");
        for address in ["ann@acme.com", "Ann@ACME.com", "eva@B\u{dc}CHER.example"] {
            assert_eq!(
                suppression_reason(&page, None, (&at(address), &AccessProof::Visitor)),
                None
            );
            assert!(may_subscribe(&page.settings, &at(address)), "{address}");
        }
        for address in ["eve@sub.acme.com", "eve@notacme.com", "eve@acme.com.evil.example"] {
            for admission in [AccessProof::Visitor, AccessProof::Owner, by(b"mark")] {
                let why = suppression_reason(&page, Some(b"mark"), (&at(address), &admission));
                assert_eq!(why, Some(SuppressionReason::Domain), "{address}");
            }
            assert!(!may_subscribe(&page.settings, &at(address)), "{address}");
        }
    }

    #[test]
    fn password_page_notifies_holders_and_owner_added() {
        let page = page("password");
        let why = |admission: &AccessProof| {
            suppression_reason(&page, Some(b"new"), (&at("ann@acme.com"), admission))
        };
        assert_eq!(why(&by(b"new")), None);
        assert_eq!(why(&AccessProof::Owner), None);
        assert_eq!(
            why(&by(b"old")),
            Some(SuppressionReason::Password),
            "the password was changed since"
        );
        assert_eq!(
            why(&AccessProof::Visitor),
            Some(SuppressionReason::Password),
            "subscribed while the page was public"
        );
    }

    #[test]
    fn public_page_notifies_all_and_hidden_page_nobody() {
        let everybody = page("public");
        let hidden = StatusPage { published: false, ..page("public") };
        let hook = Destination::Webhook(Secret::new("https://hooks.example/".to_owned()));
        for admission in [AccessProof::Visitor, AccessProof::Owner, by(b"old")] {
            let who = (&at("eve@evil.example"), &admission);
            assert_eq!(suppression_reason(&everybody, None, who), None);
            assert_eq!(suppression_reason(&hidden, None, who), Some(SuppressionReason::Hidden));
        }
        for access in ["public", "password", "email-domain"] {
            let reason =
                suppression_reason(&page(access), Some(b"new"), (&hook, &AccessProof::Owner));
            assert_eq!(reason, None, "webhooks need no access");
        }
        let hook = suppression_reason(&hidden, None, (&hook, &AccessProof::Owner));
        assert_eq!(hook, Some(SuppressionReason::Hidden));
    }
}
