//! The first and only line on stdout, by which the host learns where and how to talk to us.
//! Format: `1|6|unix|/path|grpc|<certificate>`, of go-plugin's protocol 1.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::environment::Environment;

/// The version of go-plugin's own protocol.
const CORE: u32 = 1;
/// The major version of the plugin protocol that this crate speaks.
pub(crate) const PROTOCOL: u32 = 6;

/// For people who start a provider by hand.
pub(super) const BY_HAND: &str = "\
This program is a Terraform provider. Terraform starts it by itself: name it in a configuration's
`required_providers` and run `terraform init`.

To attach a debugger, start it with --debug and hand what it prints to Terraform.
";

/// What the host is told.
pub(super) struct Handshake<'a> {
    /// `unix` or `tcp`.
    pub(super) network: &'a str,
    /// A path, or an address with its port.
    pub(super) address: &'a str,
    /// DER of the certificate that we will show, when the connection is encrypted.
    pub(super) certificate: Option<&'a [u8]>,
    /// A seventh part, for hosts that read one: whether connections are shared with the broker.
    pub(super) seventh_part: bool,
}

impl Handshake<'_> {
    /// The line, without its end.
    pub(super) fn line(&self) -> String {
        let certificate = self.certificate.map(|der| STANDARD_NO_PAD.encode(der));
        let certificate = certificate.unwrap_or_default();
        let (network, address) = (self.network, self.address);
        let line = format!("{CORE}|{PROTOCOL}|{network}|{address}|grpc|{certificate}");
        // Older hosts split at the fifth bar, and would read a seventh part as the certificate's.
        if self.seventh_part { line + "|false" } else { line }
    }
}

/// Whether the host speaks our version. One that does not is told the version all the same, because
/// it is the one that can say so to people; without a list it is too old to know of versions.
pub(super) fn is_understood(environment: &Environment) -> bool {
    let Some(versions) = &environment.versions else { return true };
    versions.split(',').any(|version| version.trim().parse() == Ok(PROTOCOL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_six_parts_and_a_seventh_where_it_is_read() {
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
    fn a_host_understands_us_when_our_version_is_in_its_list() {
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
