//! Unit tests of configured secrets: which texts are secrets, and their forms.

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use rules::monitor::HttpCheck;

use super::*;
use crate::check::http::HttpPlan;

fn hidden(secrets: &[&str], text: &str) -> String {
    let secrets: Vec<String> = secrets.iter().map(|it| (*it).to_owned()).collect();
    let mut text = text.to_owned();
    Configured::in_forms(secrets).redact(&mut text);
    text
}

// issue 16: "Redact configured secret values in stored evidence (also their base64 and
// percent-encoded forms)"
#[test]
fn secret_is_hidden_in_every_form() {
    let secret = "s3cr/t +\"x";
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    for text in [
        secret.to_owned(),
        serde_json::to_string(&serde_json::json!({ "a": secret })).unwrap(),
        utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
        form,
        "s3cr%2ft%20%2B\"x".to_owned(),
        "s3cr/t++%22x".to_owned().replace("++", "+%2B"),
        "%733cr%252Ft%2520%252b%2522x".to_owned(),
        STANDARD.encode(secret),
        STANDARD.encode(format!("a:{secret}:b")),
        URL_SAFE_NO_PAD.encode(format!("ab{secret}bcd")),
        "s3cr/t +&quot;x".to_owned(),
        "s3cr&#47;t&#x20;&#43;&#34;x".to_owned(),
        "s3cr\\u002Ft +\\u0022x".to_owned(),
        "s3cr\\/t&#32;+\\&quot;x".to_owned(),
        "733363722f74202b2278".to_owned(),
        "733363722F74202B2278".to_owned(),
    ] {
        let shown = hidden(&[secret], &format!("you sent {text}!"));
        assert!(shown.starts_with("you sent ") && shown.contains('…'), "{text}: {shown}");
        assert!(!shown.contains(&text), "{shown}");
    }
    assert_eq!(hidden(&[secret], "nothing here"), "nothing here");
}

#[test]
fn escaped_secret_of_any_language_is_hidden() {
    let secret = "gr\u{fc}\u{df}e <&> \u{1f600}'";
    for text in [
        "gr&#252;&#xdf;e &lt;&amp;&gt; &#x1F600;&#39;".to_owned(),
        "gr\u{fc}\u{df}e &lt;&amp;&gt; \u{1f600}&#x27;".to_owned(),
        "gr\\u00fc\\u00dfe <&> \\ud83d\\ude00'".to_owned(),
        "gr\\u00FC\\u00DFe \\u003C\\u0026\\u003E \\uD83D\\uDE00\\u0027".to_owned(),
    ] {
        assert_eq!(hidden(&[secret], &format!("sent {text}!")), "sent …!", "{text}");
    }
}

#[test]
fn cut_off_secret_is_hidden() {
    assert_eq!(hidden(&["abcdefgh"], "x abcde"), "x …");
    assert_eq!(hidden(&["abcdefgh"], "x abcde…"), "x …");
    assert_eq!(hidden(&["abcdefgh"], "body `abcde…` is … not it"), "body `…` is … not it");
    assert_eq!(hidden(&["abcdefgh"], "x abc"), "x abc");
    assert_eq!(hidden(&["ab"], "x ab"), "x ab");
    assert_eq!(hidden(&["a<b>c&d"], "x a&lt;b&g"), "x …");
    assert_eq!(hidden(&["a<b>cd"], "x a\\u003cb\\u0"), "x …");
    assert_eq!(hidden(&["\u{fc}abcd"], "x \\u00fcab"), "x …");
    assert_eq!(hidden(&["secret-1"], "x 736563726"), "x …");
    assert_eq!(hidden(&["0123456789abcdef"], "6789abcdef."), "….");
    assert_eq!(hidden(&["0123456789abcdef"], "bcdef."), "bcdef.");
}

#[test]
fn parts_of_credentials_are_secrets() {
    let basic = format!("Basic {}", STANDARD.encode("ada:hunter22"));
    assert_eq!(credentials(&basic)[1..], ["hunter22", "ada:hunter22"]);
    for (pair, user) in [
        ("t0ken:", "t0ken"),
        ("t0ken:X", "t0ken"),
        ("t0ken:x-oauth-basic", "t0ken"),
        ("t0ken:api_token", "t0ken"),
    ] {
        let basic = format!("Basic {}", STANDARD.encode(pair));
        assert!(credentials(&basic).contains(&user.to_owned()), "{pair}");
    }
    assert_eq!(credentials("Bearer abc"), ["abc"]);
    assert!(credentials("abc").is_empty());
    let mut found = Vec::new();
    let body = serde_json::json!({ "user": "ada", "login": { "password": ["p1", 2] } });
    collect_json_secrets(&body, false, &mut found);
    assert_eq!(found, ["p1", "2"]);
}

fn secrets_of(url: &str) -> Vec<String> {
    let check = HttpCheck { method: rules::Method::Get, ..HttpCheck::new(url.to_owned()) };
    let plan = HttpPlan::new(&check).unwrap();
    of_check(&plan.headers, &plan.url, &plan.body)
}

#[test]
fn tokens_in_urls_are_secrets() {
    let token = |url| secrets_of(url).contains(&"t0ken-4711".to_owned());
    assert!(token("https://t0ken-4711@example.com/"));
    assert!(token("https://t0ken-4711:X@example.com/"));
    assert!(!token("https://t0ken-4711:correct-horse@example.com/"));
    assert_eq!(secrets_of("https://example.com/?q=t0ken-4711&page=2"), ["t0ken-4711"]);
}

#[test]
fn names_of_secrets_match_in_any_style() {
    for name in [
        "access_key",
        "subscription_key",
        "license_key",
        "accessKey",
        "Ocp-Apim-Subscription-Key",
        "AccountKey",
        "k",
        "pin",
        "OTP",
    ] {
        assert!(is_secret(name), "{name}");
    }
    for name in ["keyboard", "monkey", "kind", "spin", "page", "q"] {
        assert!(!is_secret(name), "{name}");
    }
}

proptest! {
    #[test]
    fn secret_within_base64_is_hidden(
        secret in "[a-zA-Z0-9]{8,24}",
        before in "[a-z]{0,9}",
        after in "[a-z]{0,9}",
    ) {
        let text = STANDARD.encode(format!("{before}{secret}{after}"));
        let shown = hidden(&[&secret], &text);
        prop_assert!(shown.contains('…'), "{shown}");
    }
}
