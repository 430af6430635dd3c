//! The only line on stdout. It has the address of the plugin, and how to connect. Format:
//! `1|6|unix|/path|grpc|<certificate>`, of go-plugin's protocol 1.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::environment::Environment;

/// Version of go-plugin's own protocol.
const CORE: u32 = 1;
/// Major version of the plugin protocol that this crate implements.
pub(crate) const PROTOCOL: u32 = 6;

/// Message for people who start a provider by hand.
pub(super) const BY_HAND: &str = "\
This program is a Terraform provider. Terraform starts it: name it in a configuration's
`required_providers` and run `terraform init`.

To attach a debugger, start it with --debug and follow the instructions that it prints.
";

/// Content of the handshake.
pub(super) struct Handshake<'a> {
    /// `unix` or `tcp`.
    pub(super) network: &'a str,
    /// Path, or address with port.
    pub(super) address: &'a str,
    /// The provider's certificate as DER, if the connection is encrypted.
    pub(super) certificate: Option<&'a [u8]>,
    /// Whether to add the seventh field, which says whether connections are shared with the broker.
    pub(super) seventh_part: bool,
}

impl Handshake<'_> {
    /// Returns the line without its line end.
    pub(super) fn line(&self) -> String {
        let certificate = self.certificate.map(|der| STANDARD_NO_PAD.encode(der));
        let certificate = certificate.unwrap_or_default();
        let (network, address) = (self.network, self.address);
        let line = format!("{CORE}|{PROTOCOL}|{network}|{address}|grpc|{certificate}");
        // Older hosts split at the fifth bar and would read a seventh field as part of the
        // certificate.
        if self.seventh_part { line + "|false" } else { line }
    }
}

/// Returns whether the host supports this protocol version. Otherwise the provider still sends its
/// version, because only the host can report the mismatch to people. A host without a list is too
/// old to know versions.
pub(super) fn is_understood(environment: &Environment) -> bool {
    let Some(versions) = &environment.versions else { return true };
    versions.split(',').any(|version| version.trim().parse() == Ok(PROTOCOL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventh_field_is_only_sent_on_request() {
        let mut handshake = Handshake {
            network: "unix",
            address: "/tmp/p/s",
            certificate: Some(&[0xff, 0xfe, 0xfd, 0xfc]),
            seventh_part: false,
        };
        assert_eq!(handshake.line(), "1|6|unix|/tmp/p/s|grpc|//79/A");
        handshake.seventh_part = true;
        assert_eq!(handshake.line(), "1|6|unix|/tmp/p/s|grpc|//79/A|false");
        let handshake = Handshake { certificate: None, seventh_part: false, ..handshake };
        assert_eq!(handshake.line(), "1|6|unix|/tmp/p/s|grpc|");
    }

    #[test]
    fn host_must_list_our_protocol_version() {
        for (versions, understood) in
            [(None, true), (Some("5,6"), true), (Some("6"), true), (Some("5"), false)]
        {
            let versions = versions.map(str::to_owned);
            let environment = Environment { versions, ..Environment::default() };
            assert_eq!(is_understood(&environment), understood);
        }
        let broken = Environment { versions: Some("x,,66".into()), ..Environment::default() };
        assert!(!is_understood(&broken));
    }
}
