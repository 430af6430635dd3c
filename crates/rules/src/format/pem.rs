//! Formats of certificates and private keys in PEM (RFC 7468). Checks labels and sizes only: `probe`
//! reads the contents, because this crate has no TLS library.

use super::FormatError;

/// Begin of the line before an object.
const BEGIN: &str = "-----BEGIN ";
/// Begin of the line after an object.
const END: &str = "-----END ";
/// End of both lines.
const DASHES: &str = "-----";
const CERTIFICATE: &str = "CERTIFICATE";
/// Labels of PKCS#8, PKCS#1 and SEC1.
const KEYS: [&str; 3] = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];
/// Label of an object that OpenSSL writes before a key of SEC1.
const PARAMETERS: &str = "EC PARAMETERS";
/// Label of an encrypted key of PKCS#8.
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
/// Header of an encrypted key of PKCS#1 or SEC1 (RFC 1421).
const ENCRYPTED_HEADER: &str = "Proc-Type: 4,ENCRYPTED";

const INDENTED: &str =
    "must not be indented: each `-----BEGIN …-----` and `-----END …-----` begins its line";
const UNMATCHED: &str =
    "must have a line `-----BEGIN …-----` before each object, and `-----END …-----` after it";

/// Checks that a text has certificates of at most `max` bytes.
pub(crate) fn certificates(max: u32, text: &str) -> Result<(), FormatError> {
    let labels = labels(max, text)?;
    if labels.is_empty() {
        return Err("must be one or more certificates in PEM, which begin with \
                    `-----BEGIN CERTIFICATE-----`"
            .into());
    }
    match labels.iter().find(|label| **label != CERTIFICATE) {
        None => Ok(()),
        Some(label) if label.ends_with("PRIVATE KEY") => Err("must have certificates only; the \
            private key belongs in `client_key`, and must be replaced if others may have seen it"
            .into()),
        Some(_) => Err("must have certificates only, with the label `CERTIFICATE`".into()),
    }
}

/// Checks that a text has one private key that is not encrypted, of at most `max` bytes.
pub(crate) fn private_key(max: u32, text: &str) -> Result<(), FormatError> {
    let labels = labels(max, text)?;
    if labels.contains(&ENCRYPTED) || text.contains(ENCRYPTED_HEADER) {
        return Err("must not be encrypted; decrypt it by \
                    `openssl pkcs8 -topk8 -nocrypt -in encrypted.pem -out key.pem`"
            .into());
    }
    if labels.contains(&CERTIFICATE) {
        return Err(
            "must have the private key only; certificates belong in `client_certificate`".into()
        );
    }
    let mut keys = labels.iter().filter(|label| **label != PARAMETERS);
    match (keys.next(), keys.next()) {
        (Some(key), None) if KEYS.contains(key) => Ok(()),
        (Some(_), Some(_)) => Err("must have one private key, not several".into()),
        (Some(_), None) | (None, _) => Err("must be a private key of PKCS#8, PKCS#1 or SEC1 in \
            PEM, which begins with `-----BEGIN PRIVATE KEY-----`, \
            `-----BEGIN RSA PRIVATE KEY-----` or `-----BEGIN EC PRIVATE KEY-----`"
            .into()),
    }
}

/// Returns the labels of the objects in a text.
fn labels(max: u32, text: &str) -> Result<Vec<&str>, FormatError> {
    if text.len() > max as usize {
        return Err(format!("must have at most {max} bytes").into());
    }
    let (mut labels, mut open) = (Vec::new(), None);
    // The TLS library takes a lone carriage return for the end of a line, too, and skips indented labels.
    for given in text.split(['\n', '\r']) {
        let line = given.trim();
        if line.len() < given.trim_end().len() && line.starts_with(DASHES) {
            return Err(INDENTED.into());
        }
        let label = |begin| line.strip_prefix(begin).and_then(|rest| rest.strip_suffix(DASHES));
        match (label(BEGIN), label(END)) {
            (Some(label), _) if open.is_none() => open = Some(label),
            (None, Some(label)) if open == Some(label) => labels.extend(open.take()),
            (None, None) => {}
            (Some(_), _) | (None, Some(_)) => return Err(UNMATCHED.into()),
        }
    }
    if open.is_some() { Err(UNMATCHED.into()) } else { Ok(labels) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u32 = 500;

    fn object(label: &str) -> String {
        format!("-----BEGIN {label}-----\nAA==\n-----END {label}-----\n")
    }

    fn outcome(read: impl Fn(u32, &str) -> Result<(), FormatError>, text: &str) -> String {
        read(MAX, text).err().map_or_else(|| "accepted".to_owned(), |why| why.to_string())
    }

    #[test]
    fn certificates_need_their_label() {
        let certificate = object("CERTIFICATE");
        let two = format!("subject=ä\n{certificate}\r\n{certificate}");
        let indented = format!("{certificate}  {certificate}");
        let hidden = format!("{certificate}x\r{}", object("PRIVATE KEY"));
        let long = certificate.clone() + &"ä".repeat(MAX as usize / 2);
        let texts: Vec<String> = [
            &certificate,
            &two,
            &indented,
            &hidden,
            &long,
            "",
            "AA==",
            &object("TRUSTED CERTIFICATE"),
            &(certificate.clone() + &object("PRIVATE KEY")),
            "-----BEGIN CERTIFICATE-----\nAA==",
            "AA==\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nAA==\n-----END PRIVATE KEY-----",
        ]
        .into_iter()
        .map(|text| outcome(certificates, text))
        .collect();
        insta::assert_snapshot!(texts.join("\n"), @r"
        accepted
        accepted
        must not be indented: each `-----BEGIN …-----` and `-----END …-----` begins its line
        must have certificates only; the private key belongs in `client_key`, and must be replaced if others may have seen it
        must have at most 500 bytes
        must be one or more certificates in PEM, which begin with `-----BEGIN CERTIFICATE-----`
        must be one or more certificates in PEM, which begin with `-----BEGIN CERTIFICATE-----`
        must have certificates only, with the label `CERTIFICATE`
        must have certificates only; the private key belongs in `client_key`, and must be replaced if others may have seen it
        must have a line `-----BEGIN …-----` before each object, and `-----END …-----` after it
        must have a line `-----BEGIN …-----` before each object, and `-----END …-----` after it
        must have a line `-----BEGIN …-----` before each object, and `-----END …-----` after it
        ");
    }

    #[test]
    fn private_key_is_one_and_not_encrypted() {
        let key = object("PRIVATE KEY");
        let header = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAA==\n-----END RSA PRIVATE KEY-----";
        let texts: Vec<String> = [
            &key,
            &object("RSA PRIVATE KEY"),
            &(object("EC PARAMETERS") + &object("EC PRIVATE KEY")),
            &object("ENCRYPTED PRIVATE KEY"),
            header,
            &(object("CERTIFICATE") + &key),
            &(key.clone() + &key),
            &object("OPENSSH PRIVATE KEY"),
            &object("EC PARAMETERS"),
            "",
        ]
        .into_iter()
        .map(|text| outcome(private_key, text))
        .collect();
        insta::assert_snapshot!(texts.join("\n"), @r"
        accepted
        accepted
        accepted
        must not be encrypted; decrypt it by `openssl pkcs8 -topk8 -nocrypt -in encrypted.pem -out key.pem`
        must not be encrypted; decrypt it by `openssl pkcs8 -topk8 -nocrypt -in encrypted.pem -out key.pem`
        must have the private key only; certificates belong in `client_certificate`
        must have one private key, not several
        must be a private key of PKCS#8, PKCS#1 or SEC1 in PEM, which begins with `-----BEGIN PRIVATE KEY-----`, `-----BEGIN RSA PRIVATE KEY-----` or `-----BEGIN EC PRIVATE KEY-----`
        must be a private key of PKCS#8, PKCS#1 or SEC1 in PEM, which begins with `-----BEGIN PRIVATE KEY-----`, `-----BEGIN RSA PRIVATE KEY-----` or `-----BEGIN EC PRIVATE KEY-----`
        must be a private key of PKCS#8, PKCS#1 or SEC1 in PEM, which begins with `-----BEGIN PRIVATE KEY-----`, `-----BEGIN RSA PRIVATE KEY-----` or `-----BEGIN EC PRIVATE KEY-----`
        ");
    }
}
