//! Formats of hosts: domain names, addresses and `host:port`. International names are stored as
//! written and queried as A-labels (design §5); parsing returns the queried form.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::FormatError;

/// Maximum length of a domain name in octets, without trailing dot (RFC 1035 §2.3.4).
const NAME_OCTETS_MAX: usize = 253;
/// Maximum length of a label in octets (RFC 1035 §2.3.4).
const LABEL_OCTETS_MAX: usize = 63;

/// A domain name in its queried form: A-labels in lower case, without trailing dot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DomainName(String);

/// Target host of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    Name(DomainName),
    /// An address, which needs no lookup.
    Address(IpAddr),
}

/// A TCP target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    pub host: Host,
    /// Never 0.
    pub port: u16,
}

impl DomainName {
    /// Parses a domain name: labels of letters, digits, hyphens and underscores, including
    /// international ones, with or without trailing dot.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        if text.contains("://") {
            return Err("must be a domain name without scheme and path, such as example.com".into());
        }
        if text.parse::<IpAddr>().is_ok() {
            return Err("must be a domain name, not an address".into());
        }
        if text.contains(':') {
            return Err("must be a domain name without a port, such as example.com".into());
        }
        if text.contains('/') {
            return Err("must be a domain name without a path, such as example.com".into());
        }
        let name = Self::from_unicode(text)?;
        if name.is_numeric() {
            return Err("must be a domain name, not an address".into());
        }
        Ok(name)
    }

    /// Returns the domain of an email address, after the last `@`, if valid.
    pub fn from_mailbox(address: &str) -> Option<Self> {
        let (_, domain) = address.rsplit_once('@')?;
        Self::parse(&domain.to_lowercase()).ok()
    }

    /// Returns the name in its queried form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn from_unicode(text: &str) -> Result<Self, FormatError> {
        // `check_labels` checks the ASCII characters, because it allows underscores.
        let ascii = idna::domain_to_ascii_cow(text.as_bytes(), idna::AsciiDenyList::EMPTY)
            .map_err(|_| FormatError::from("must be a valid (international) domain name"))?;
        check_labels(&ascii)?;
        Ok(Self(ascii.strip_suffix('.').unwrap_or(&ascii).to_owned()))
    }

    /// Returns whether it ends in a number. Some resolvers take `127.0.0.1`, `10.1`, `0x7f.1` and
    /// `2130706433` as addresses, others as names.
    fn is_numeric(&self) -> bool {
        let last = self.0.rsplit('.').next().unwrap_or_default();
        last.bytes().all(|byte| byte.is_ascii_digit())
            || last
                .strip_prefix("0x")
                .is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HostPort {
    /// Parses `host:port`: a name, an IPv4 address, or an IPv6 address in brackets.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        if text.contains("://") {
            return Err("must be host:port without a scheme, such as example.com:443".into());
        }
        if text.parse::<Ipv6Addr>().is_ok() || (!text.starts_with('[') && colons(text) > 1) {
            return Err(
                "must have an IPv6 address in brackets and a port, such as [2001:db8::1]:443"
                    .into(),
            );
        }
        match authority(text)? {
            (host, Some(port)) => Ok(Self { host, port }),
            (_, None) => Err("must be host:port, such as example.com:443".into()),
        }
    }
}

/// Parses `host` or `host:port`.
pub(crate) fn authority(text: &str) -> Result<(Host, Option<u16>), FormatError> {
    if let Some(bracketed) = text.strip_prefix('[') {
        let (address, rest) = bracketed.split_once(']').ok_or(IPV6_FORM)?;
        let address = address.parse::<Ipv6Addr>().map_err(|_| FormatError::from(IPV6_FORM))?;
        let port = match rest.strip_prefix(':') {
            Some(digits) => Some(port(digits)?),
            None if rest.is_empty() => None,
            None => return Err(IPV6_FORM.into()),
        };
        return Ok((Host::Address(address.into()), port));
    }
    match text.split_once(':') {
        Some((host, digits)) => Ok((name_or_ipv4(host)?, Some(port(digits)?))),
        None => Ok((name_or_ipv4(text)?, None)),
    }
}

/// Checks whether an ASCII name, with or without trailing dot, is valid in DNS.
pub(super) fn check_labels(ascii: &str) -> Result<(), FormatError> {
    let name = ascii.strip_suffix('.').unwrap_or(ascii);
    if name.len() > NAME_OCTETS_MAX {
        return Err(
            format!("must have at most {NAME_OCTETS_MAX} characters as a domain name").into()
        );
    }
    for label in name.split('.') {
        if label.is_empty() {
            return Err("must have no empty label between the dots of its domain name".into());
        }
        if label.len() > LABEL_OCTETS_MAX {
            return Err(format!(
                "must have at most {LABEL_OCTETS_MAX} characters between the dots of its domain name"
            )
            .into());
        }
        if !label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
            return Err(
                "must have only letters, digits, hyphens and underscores in its domain name".into(),
            );
        }
    }
    Ok(())
}

const IPV6_FORM: &str = "must have an IPv6 address in its brackets, such as [2001:db8::1]:443";

fn colons(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b':').count()
}

fn name_or_ipv4(text: &str) -> Result<Host, FormatError> {
    if text.is_empty() {
        return Err("must have a host before the port, such as example.com:443".into());
    }
    let name = DomainName::from_unicode(text)?;
    if let Ok(address) = name.as_str().parse::<Ipv4Addr>() {
        return Ok(Host::Address(address.into()));
    }
    if name.is_numeric() {
        return Err("must have a host that is a name, or an IPv4 address of four numbers".into());
    }
    Ok(Host::Name(name))
}

fn port(digits: &str) -> Result<u16, FormatError> {
    // `parse` alone would accept `+80`.
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(port) if port > 0 && all_digits => Ok(port),
        _ => Err("must have a port from 1 to 65535 after the host".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Host {
        Host::Name(DomainName(text.to_owned()))
    }

    #[test]
    fn tcp_target_requires_host_and_port() {
        // spec: §2.2; design: §5 TCP
        for (text, host, port) in [
            ("example.com:443", name("example.com"), 443),
            ("LOCALHOST:1", name("localhost"), 1),
            ("db_1.internal.:5432", name("db_1.internal"), 5432),
            ("bücher.example:65535", name("xn--bcher-kva.example"), 65535),
            ("127.0.0.1:80", Host::Address([127, 0, 0, 1].into()), 80),
            ("[::1]:80", Host::Address(Ipv6Addr::LOCALHOST.into()), 80),
        ] {
            assert_eq!(HostPort::parse(text), Ok(HostPort { host, port }), "{text}");
        }
    }

    #[test]
    fn invalid_tcp_target_is_rejected_with_a_hint() {
        for (text, hint) in [
            ("", "must have a host"),
            ("example.com", "host:port"),
            ("example.com:", "port from 1 to 65535"),
            ("example.com:0", "port from 1 to 65535"),
            ("example.com:65536", "port from 1 to 65535"),
            ("example.com:+80", "port from 1 to 65535"),
            ("example.com:80/", "port from 1 to 65535"),
            (":80", "must have a host"),
            ("tcp://example.com:80", "without a scheme"),
            ("2001:db8::1", "in brackets"),
            ("2001:db8::1:443", "in brackets"),
            ("[2001:db8::1]", "host:port"),
            ("[fe80::1%eth0]:80", "IPv6 address"),
            ("[::1]80", "IPv6 address"),
            ("[::1:80", "IPv6 address"),
            ("a b:80", "letters, digits"),
            ("user@example.com:80", "letters, digits"),
            ("10.1:80", "four numbers"),
            ("2130706433:80", "four numbers"),
            ("0x7f000001:80", "four numbers"),
            ("1.2.3.256:80", "four numbers"),
        ] {
            let refusal = HostPort::parse(text).expect_err(text).to_string();
            assert!(refusal.contains(hint), "{text}: {refusal}");
        }
    }

    #[test]
    fn domain_names_parse_to_their_queried_form() {
        // spec: §2.3; design: §5 DNS
        for (text, read) in [
            ("example.com", "example.com"),
            ("Example.COM.", "example.com"),
            ("_dmarc.example.com", "_dmarc.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("com", "com"),
            ("1.0.0.127.in-addr.arpa", "1.0.0.127.in-addr.arpa"),
        ] {
            assert_eq!(DomainName::parse(text), Ok(DomainName(read.to_owned())), "{text}");
        }
    }

    #[test]
    fn invalid_domain_name_is_rejected_with_a_hint() {
        for (text, hint) in [
            ("https://example.com", "without scheme"),
            ("example.com:53", "without a port"),
            ("example.com/a", "without a path"),
            ("127.0.0.1", "not an address"),
            ("127.0.0.1.", "not an address"),
            ("10.1", "not an address"),
            ("0x7f.1", "not an address"),
            ("2130706433", "not an address"),
            ("::1", "not an address"),
            ("", "no empty label"),
            (".", "no empty label"),
            ("a..b", "no empty label"),
            (".a", "no empty label"),
            ("a b.example", "letters, digits"),
            ("ops@example.com", "letters, digits"),
            ("*.example.com", "letters, digits"),
            ("xn--a.example", "valid (international)"),
        ] {
            let refusal = DomainName::parse(text).expect_err(text).to_string();
            assert!(refusal.contains(hint), "{text}: {refusal}");
        }
    }

    #[test]
    fn too_long_label_or_name_is_rejected() {
        let label = "a".repeat(63);
        assert!(DomainName::parse(&format!("{label}.example")).is_ok());
        assert!(DomainName::parse(&format!("{label}a.example")).is_err());
        let name = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert_eq!(name.len(), NAME_OCTETS_MAX);
        assert!(DomainName::parse(&name).is_ok());
        assert!(DomainName::parse(&format!("{name}.")).is_ok());
        assert!(DomainName::parse(&format!("{name}a")).is_err());
        // The limit applies to A-labels: 60 of these characters need more than 63 octets.
        assert!(DomainName::parse(&format!("{}.example", "ü".repeat(60))).is_err());
    }
}
