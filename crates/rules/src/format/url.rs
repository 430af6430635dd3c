//! Formats of URLs: absolute `http` and `https`, and `mailto`.

use super::FormatError;
use super::host;

/// Checks for an absolute `http` or `https` URL with a valid host and port. Credentials, queries
/// and fragments are allowed.
pub(crate) fn http(text: &str) -> Result<(), FormatError> {
    // The URL standard repairs many errors (`https:host`, line breaks, backslashes). URLs are
    // stored as written, so every parser must agree on scheme, host and port.
    unbroken(text)?;
    let Some(rest) = after_scheme(text) else {
        return Err("must be an absolute URL that begins with http:// or https://".into());
    };
    if rest.starts_with(['/', '\\', '?', '#']) || rest.is_empty() {
        return Err("must have a host after http:// or https://".into());
    }
    if rest.split(['?', '#']).next().is_some_and(|path| path.contains('\\')) {
        return Err("must not contain a backslash before its query".into());
    }
    let parsed = ::url::Url::parse(text).map_err(refusal)?;
    if parsed.port() == Some(0) {
        return Err("must have a port from 1 to 65535".into());
    }
    match parsed.host() {
        Some(::url::Host::Domain(name)) => host::check_labels(name),
        Some(::url::Host::Ipv4(_) | ::url::Host::Ipv6(_)) => Ok(()),
        None => Err("must have a host after http:// or https://".into()),
    }
}

/// Checks a link for visitors: like [`http`], or `mailto:` with one address.
pub(crate) fn contact(text: &str) -> Result<(), FormatError> {
    let Some(rest) = strip_prefix_ignoring_case(text, "mailto:") else {
        if after_scheme(text).is_none() {
            return Err("must be an http, https or mailto URL".into());
        }
        return http(text);
    };
    // A line break after the `?` would inject a header into the visitor's email.
    unbroken(text)?;
    super::contact::email(rest.split('?').next().unwrap_or_default()).map_err(|_| {
        "must have one email address after mailto:, such as mailto:ops@example.com".into()
    })
}

/// Rejects control characters, and spaces at either end.
fn unbroken(text: &str) -> Result<(), FormatError> {
    if text.chars().any(char::is_control) {
        return Err("must not contain CR, LF or other control characters".into());
    }
    if text != text.trim() {
        return Err("must not begin or end with a space".into());
    }
    Ok(())
}

/// Hides what may be a name and password in `text`, for messages.
pub(crate) fn without_credentials(text: &str) -> String {
    // Hides up to the last `@`: in an invalid URL, the end of the host is unknown.
    match text.rfind('@') {
        Some(at) if text[..at].contains(':') => match text[..at].find("://") {
            Some(scheme) => format!("{}://…{}", &text[..scheme], &text[at..]),
            None => format!("…{}", &text[at..]),
        },
        _ => text.to_owned(),
    }
}

fn after_scheme(text: &str) -> Option<&str> {
    strip_prefix_ignoring_case(text, "https://")
        .or_else(|| strip_prefix_ignoring_case(text, "http://"))
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

fn refusal(error: ::url::ParseError) -> FormatError {
    use ::url::ParseError;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum belongs to another crate and may grow"
    )]
    match error {
        ParseError::InvalidPort => "must have a port from 1 to 65535".into(),
        ParseError::EmptyHost => "must have a host after http:// or https://".into(),
        ParseError::IdnaError => {
            "must have a host that is a valid (international) domain name".into()
        }
        ParseError::InvalidIpv4Address | ParseError::InvalidIpv6Address => {
            "must have a host that is a domain name, an IPv4 address or an IPv6 address in brackets"
                .into()
        }
        other => format!("must be a valid http or https URL: {other}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_http_urls_are_accepted() {
        // design: §4, §5 HTTP
        for fine in [
            "http://example.com",
            "HTTPS://Example.COM:443/a?b=c#d",
            "https://user:p%40ss@example.com/",
            "https://bücher.example/ä?ö",
            "http://127.0.0.1:1/",
            "http://[2001:db8::1]:65535/",
            "http://localhost:8080/health",
            "http://under_score.example.com/",
            "http://example.com./",
            "http://example.com/a b",
            "http://example.com/?a\\b",
        ] {
            assert_eq!(http(fine), Ok(()), "{fine}");
        }
    }

    #[test]
    fn url_that_needs_repair_is_rejected() {
        // design: §5 HTTP
        for bad in [
            "",
            "example.com",
            "/path",
            "//example.com",
            "https:example.com",
            "https:/example.com",
            "https:///example.com",
            "https://\\example.com",
            "https://",
            "https://?q",
            "https://:80/",
            "https://@/",
            "ftp://example.com",
            "javascript:alert(1)",
            "http://exa mple.com",
            "http://example.com:0",
            "http://example.com:65536",
            "http://example.com:-1",
            "http://example.com:http",
            "http://[::1",
            "http://2001:db8::1/",
            "http://1.2.3.256/",
            "http://a..b/",
            "http://xn--a/",
            " http://example.com",
            "http://example.com\n",
            "http://exam\tple.com",
            "http://example.com/\r\nHost: x",
            "http://a.example\\@b.example/",
        ] {
            assert!(http(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn hosts_too_long_for_dns_are_rejected() {
        assert_eq!(http(&format!("http://{}.example/", "a".repeat(63))), Ok(()));
        assert!(http(&format!("http://{}.example/", "a".repeat(64))).is_err());
    }

    #[test]
    fn contact_links_allow_mail_but_no_script() {
        // design: §6
        for fine in ["https://example.com/help", "mailto:ops@example.com?subject=Help"] {
            assert_eq!(contact(fine), Ok(()), "{fine}");
        }
        for bad in ["javascript:alert(1)", "mailto:", "mailto:x", "tel:+1", "data:text/html,x"] {
            assert!(contact(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn contact_link_rejects_lists_and_line_breaks() {
        for (bad, hint) in [
            ("mailto:a@x.io,b@x.io", "one email address"),
            ("mailto:a@x.io?body=a\r\nBcc: b@x.io", "control characters"),
            ("mailto:a@x.io?body=\0", "control characters"),
            ("mailto:a@x.io?body=\u{1b}[31m", "control characters"),
            ("mailto:a@x.io?subject=x ", "end with a space"),
        ] {
            let refusal = contact(bad).expect_err(bad).to_string();
            assert!(refusal.contains(hint), "{bad:?}: {refusal}");
        }
    }

    #[test]
    fn credentials_are_hidden_in_messages() {
        // design: §5 HTTP
        for (text, shown) in [
            ("https://u:secret@host/a", "https://…@host/a"),
            ("https://u:se/cr@t@host:x/", "https://…@host:x/"),
            ("u:secret@host", "…@host"),
            ("https://host/a", "https://host/a"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }
}
