//! Every message keeps its vendor's form and limits, for any names, addresses and reasons.

use proptest::prelude::*;
use rules::ProviderType;

use super::any::{any_event, any_link, any_text};
use super::fixtures::{a_channel, a_digest, an_event, composed};
use crate::notify::{
    self, DIGEST_EVENTS_MAX, Disposition, Event, EventBatch, Message, VendorResponse,
    classify_response,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn message_of_any_event_is_valid(event in any_event(), link in any_link()) {
        for kind in ProviderType::ALL {
            assert_fits(*kind, &composed(*kind, EventBatch::One(&event), &link));
        }
    }

    #[test]
    fn digest_of_any_events_is_valid(
        events in prop::collection::vec(any_event(), 1..12),
        link in any_link(),
    ) {
        for kind in ProviderType::ALL {
            assert_fits(*kind, &composed(*kind, EventBatch::Digest(&events), &link));
        }
    }
}

proptest! {
    #[test]
    fn stored_event_reads_back_equal(event in any_event()) {
        let kept = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(serde_json::from_str::<Event>(&kept).unwrap(), event);
    }

    #[test]
    fn quoted_response_is_one_short_line(
        status in any::<u16>(),
        body in any_text(),
        place in prop::sample::select(&["", "message", "description", "error", "errors"][..]),
    ) {
        let body = match place {
            "" => body,
            "errors" => serde_json::json!({ "errors": [body] }).to_string(),
            field => serde_json::json!({ field: body, "error": { "message": body } }).to_string(),
        };
        for kind in ProviderType::ALL {
            let response = VendorResponse { status, retry_after: None, body: body.clone() };
            let why = match classify_response(*kind, &response) {
                Disposition::Accepted => continue,
                Disposition::Again { why, .. } => why,
                Disposition::Rejected(refusal) => refusal.why,
            };
            prop_assert!(!why.is_empty() && why.chars().count() <= 400, "{}", why);
            prop_assert!(!why.chars().any(char::is_control), "{}", why);
        }
    }
}

// issue 16, point 9: PagerDuty's key is in the body of the request
#[test]
fn echoed_secret_of_any_channel_is_hidden() {
    let event = an_event(crate::notify::EventKind::Error);
    for kind in ProviderType::ALL {
        let channel = a_channel(*kind);
        let Some(secret) = channel.secret() else { continue };
        let mut detail = format!("unknown {}, retry", secret.expose());
        composed(*kind, EventBatch::One(&event), "").hide_secrets(&mut detail, None);
        assert!(detail.starts_with("unknown …") && detail.ends_with(", retry"), "{kind}: {detail}");
        assert!(!detail.contains(secret.expose().as_str()), "{kind}: {detail}");
    }
}

#[test]
fn largest_digest_is_valid() {
    let events: Vec<Event> = a_digest().into_iter().cycle().take(DIGEST_EVENTS_MAX).collect();
    for kind in ProviderType::ALL {
        assert_fits(*kind, &composed(*kind, EventBatch::Digest(&events), "https://a.example/"));
    }
}

/// Declares the checks of all kinds.
macro_rules! checks {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        fn assert_fits(kind: ProviderType, message: &Message) {
            match kind { $(ProviderType::$variant => notify::$block::tests::assert_fits(message),)+ }
        }
    };
}

rules::channel_kinds!(checks);
