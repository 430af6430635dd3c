//! The first bytes of a connection between servers of one database. Either it is a connection that a
//! standby passes on, from a listener and a client; or a new owner tells the former one that it was
//! replaced. They are signed with a key that only servers with the same master key have, so that nobody
//! else can name a client's address.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::{Secret, Timestamp};
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use web::context::Context;
use web::peer::EntryPoint;

/// Version of the format, in the first bytes.
const VERSION: &[u8; 8] = b"aloft/1\n";
/// Bytes of the subject: the address and port of a client, or the number of an owner.
const SUBJECT_BYTES: usize = 16 + 2;
const SIGNED_BYTES: usize = VERSION.len() + 1 + SUBJECT_BYTES + 8;
/// Number of bytes of a greeting.
pub(super) const GREETING_BYTES: usize = SIGNED_BYTES + 32;
/// Byte with which the receiver accepts a connection.
pub(super) const ACCEPTED: u8 = b'+';
/// Age from which a greeting is refused. The clocks of both servers are within five seconds of the
/// database server's when they start.
const AGE_MAX: Duration = Duration::from_mins(1);
const ENTRY_POINTS: [EntryPoint; 3] = [EntryPoint::Plain, EntryPoint::Tls, EntryPoint::Redirecting];
/// Byte that names a replacement.
const REPLACED: u8 = b'r';

/// Key of all servers with one master key.
#[derive(Clone)]
pub(super) struct ReplicaKey(Secret<[u8; 32]>);

/// Purpose of a connection between servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    /// A client's connection, which another server took.
    Client { entry_point: EntryPoint, peer: SocketAddr },
    /// The owner with this number replaced the receiver.
    Replaced { by: i64 },
}

/// Error for bytes that are not a greeting of a server with this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvalidGreeting {
    #[error("it is not from a server of this version with the same master key")]
    Foreign,
    #[error("it is old; synchronise the clocks of both machines")]
    Old,
}

/// Sends a greeting, and waits until the receiver accepts it.
pub(super) async fn greet(
    link: &mut TcpStream,
    greeting: Greeting,
    key: &ReplicaKey,
    ctx: &Context,
) -> io::Result<()> {
    link.write_all(&greeting.sign(key, ctx.now())).await?;
    match link.read_u8().await? {
        ACCEPTED => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

impl ReplicaKey {
    pub(super) fn new(key: &Secret<[u8; 32]>) -> Self {
        Self(key.clone())
    }

    fn mac(&self, signed: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(self.0.expose());
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(signed);
        mac
    }
}

impl Greeting {
    /// Encodes and signs the greeting.
    pub(super) fn sign(&self, key: &ReplicaKey, now: Timestamp) -> [u8; GREETING_BYTES] {
        let (kind, subject) = self.encode();
        let mut bytes = Vec::with_capacity(GREETING_BYTES);
        bytes.extend_from_slice(VERSION);
        bytes.push(kind);
        bytes.extend_from_slice(&subject);
        bytes.extend_from_slice(&now.as_millis().to_be_bytes());
        let signature = key.mac(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&signature);
        bytes.try_into().expect("the parts have this length")
    }

    /// Reads a greeting that arrived at `now`.
    pub(super) fn read(
        bytes: &[u8; GREETING_BYTES],
        key: &ReplicaKey,
        now: Timestamp,
    ) -> Result<Self, InvalidGreeting> {
        let (signed, signature) = bytes.split_at(SIGNED_BYTES);
        key.mac(signed).verify_slice(signature).map_err(|_| InvalidGreeting::Foreign)?;
        let rest = signed.strip_prefix(VERSION).ok_or(InvalidGreeting::Foreign)?;
        let (kind, rest) = rest.split_first().ok_or(InvalidGreeting::Foreign)?;
        let (subject, rest) = rest.split_first_chunk().ok_or(InvalidGreeting::Foreign)?;
        let sent_at = rest.first_chunk().ok_or(InvalidGreeting::Foreign)?;
        let sent_at = Timestamp::from_millis(i64::from_be_bytes(*sent_at));
        if now.since(sent_at) > AGE_MAX || sent_at.since(now) > AGE_MAX {
            return Err(InvalidGreeting::Old);
        }
        Self::decode(*kind, subject).ok_or(InvalidGreeting::Foreign)
    }

    fn encode(&self) -> (u8, [u8; SUBJECT_BYTES]) {
        let mut subject = [0; SUBJECT_BYTES];
        match self {
            Self::Client { entry_point, peer } => {
                let ip = match peer.ip() {
                    IpAddr::V4(address) => address.to_ipv6_mapped(),
                    IpAddr::V6(address) => address,
                };
                subject[..16].copy_from_slice(&ip.octets());
                subject[16..].copy_from_slice(&peer.port().to_be_bytes());
                let index = ENTRY_POINTS.iter().position(|it| it == entry_point);
                (index.unwrap_or_default() as u8, subject)
            }
            Self::Replaced { by } => {
                subject[..8].copy_from_slice(&by.to_be_bytes());
                (REPLACED, subject)
            }
        }
    }

    fn decode(kind: u8, subject: &[u8; SUBJECT_BYTES]) -> Option<Self> {
        if kind == REPLACED {
            return Some(Self::Replaced { by: i64::from_be_bytes(*subject.first_chunk()?) });
        }
        let entry_point = *ENTRY_POINTS.get(usize::from(kind))?;
        let ip: [u8; 16] = *subject.first_chunk()?;
        let port = u16::from_be_bytes(*subject.last_chunk()?);
        let peer = SocketAddr::new(IpAddr::V6(Ipv6Addr::from(ip)).to_canonical(), port);
        Some(Self::Client { entry_point, peer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn key(byte: u8) -> ReplicaKey {
        ReplicaKey::new(&Secret::new([byte; 32]))
    }

    fn greeting(peer: &str) -> Greeting {
        Greeting::Client { entry_point: EntryPoint::Tls, peer: peer.parse().unwrap() }
    }

    #[test]
    fn signed_greeting_reads_the_same() {
        let clients = ["192.0.2.7:4711", "[2001:db8::1]:65535"].map(greeting);
        for sent in clients.into_iter().chain([Greeting::Replaced { by: i64::MAX }]) {
            assert_eq!(Greeting::read(&sent.sign(&key(1), NOW), &key(1), NOW), Ok(sent));
        }
    }

    #[test]
    fn altered_and_foreign_greetings_are_refused() {
        let signed = greeting("192.0.2.7:1").sign(&key(1), NOW);
        for byte in 0..GREETING_BYTES {
            let mut altered = signed;
            altered[byte] ^= 1;
            let read = Greeting::read(&altered, &key(1), NOW);
            assert_eq!(read, Err(InvalidGreeting::Foreign), "byte {byte}");
        }
        assert_eq!(Greeting::read(&signed, &key(2), NOW), Err(InvalidGreeting::Foreign));
    }

    #[test]
    fn old_greeting_is_refused() {
        let signed = greeting("192.0.2.7:1").sign(&key(1), NOW);
        for now in [NOW + AGE_MAX, NOW - AGE_MAX] {
            assert!(Greeting::read(&signed, &key(1), now).is_ok());
        }
        let millisecond = Duration::from_millis(1);
        for now in [NOW + AGE_MAX + millisecond, NOW - AGE_MAX - millisecond] {
            assert_eq!(Greeting::read(&signed, &key(1), now), Err(InvalidGreeting::Old));
        }
    }
}
