//! Text of a probe's token: `aloftprobe_<id>_<256 bits><checksum>`. `credential` composes and reads
//! it. A key is no probe token, and a probe token is no key.

use rules::{ProbeId, Secret};
use store::KeyHash;

use super::credential::CredentialKind;

const PROBE_TOKEN: CredentialKind =
    CredentialKind { prefix: remote::TOKEN_PREFIX, id_prefix: ProbeId::PREFIX };

/// Well-formed probe token: the ID of its probe, and the hash to compare with the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentedProbeToken {
    pub probe: ProbeId,
    /// Hash of its text.
    pub hash: KeyHash,
}

/// Returns the text of a new token of this probe with this random secret.
pub fn compose(probe: ProbeId, secret: &[u8; 32]) -> Secret<String> {
    PROBE_TOKEN.compose(&probe.to_string(), secret)
}

/// Parses a token. Returns `None` if it is damaged or not a probe token. Does not query the store.
pub fn read(text: &[u8]) -> Option<PresentedProbeToken> {
    let (probe, hash) = PROBE_TOKEN.read(text)?;
    Some(PresentedProbeToken { probe: ProbeId::parse(&probe).ok()?, hash })
}

#[cfg(test)]
mod tests {
    use rules::KeyId;

    use super::super::key;
    use super::*;

    const BITS: u64 = 0x0123_4567_89AB_CDEF;

    #[test]
    fn composed_probe_token_parses_back() {
        let probe = ProbeId::from_bits(BITS);
        let text = compose(probe, &[0xA5; 32]).expose().clone();
        insta::assert_snapshot!(text, @"aloftprobe_028t5cy4tqkff_mpjtb9d5mpjtb9d5mpjtb9d5mpjtb9d5mpjtb9d5mpjtb9d5mpjgmfwj8z");
        let presented = PresentedProbeToken { probe, hash: KeyHash::new(&text) };
        assert_eq!(read(text.as_bytes()), Some(presented));
    }

    #[test]
    fn altered_probe_token_is_rejected() {
        let text = compose(ProbeId::from_bits(BITS), &[0xA5; 32]).expose().clone();
        for position in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[position] = if damaged[position] == b'x' { b'y' } else { b'x' };
            assert_eq!(read(&damaged), None, "changed at {position}");
            damaged.remove(position);
            assert_eq!(read(&damaged), None, "lost at {position}");
        }
    }

    #[test]
    fn key_and_probe_token_never_replace_each_other() {
        let secret = [0xA5; 32];
        let key = key::compose(KeyId::from_bits(BITS), &secret).expose().clone();
        let token = compose(ProbeId::from_bits(BITS), &secret).expose().clone();
        assert_eq!((read(key.as_bytes()), key::read(token.as_bytes())), (None, None));
        // With the prefix of the other kind, the checksum no longer matches.
        let renamed_key = key.replacen("aloft_", "aloftprobe_", 1);
        let renamed_token = token.replacen("aloftprobe_", "aloft_", 1);
        let read = (read(renamed_key.as_bytes()), key::read(renamed_token.as_bytes()));
        assert_eq!(read, (None, None));
    }
}
