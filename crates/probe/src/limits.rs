//! The probe's own bounds: how much is read, how long is waited between tries, how many checks run
//! at a time. Bounds that users see stand in the tables of `rules`.

use std::time::Duration;

/// A second address is tried beside the first after this long (RFC 8305 §5).
pub(crate) const CONNECT_FALLBACK: Duration = Duration::from_millis(250);
/// Addresses of one name that are tried.
pub(crate) const ADDRESSES_TRIED: usize = 8;

/// Head of an HTTP answer.
pub(crate) const HEAD_BYTES: usize = 128 * 1024;
/// Header lines of an HTTP answer.
pub(crate) const HEAD_LINES: usize = 256;
/// As many of them as hyper has room for by itself: the room of who was not seen to answer with more.
pub(crate) const HEAD_LINES_USUAL: usize = 100;
/// Hosts that are remembered for having answered with more.
pub(crate) const LONG_HEADS: usize = 4096;
/// Bytes of a body that are read from the network. Latency is counted to the last byte, so bodies
/// are read on after as much as the plan keeps; past this, reading stops and the body counts as
/// truncated, so that a monitor on a large file is no download of it every period.
pub(crate) const BODY_READ: usize = 16 * 1024 * 1024;
/// Content-encodings on top of each other that are undone.
pub(crate) const CODINGS: usize = 3;
/// Memory that a decoder takes, about, beside what it unfolds to.
pub(crate) const DECODER_BYTES: usize = 64 * 1024;
/// Encoded bytes that are decoded at a time, so that little is in memory when a few bytes unfold to many.
pub(crate) const DECODE_STEP: usize = 1024;
/// What one step of an encoding under another may unfold to.
pub(crate) const DECODE_STEP_UNFOLDS: usize = 4 * 1024 * 1024;

/// What is kept of the body of an answer to a message.
pub(crate) const ANSWER_BODY: usize = 16 * 1024;
/// Longest body of an answer to a message. What is longer has no end that anybody waits for.
pub(crate) const ANSWER_BODY_ENDS: usize = 1024 * 1024;
/// How long that beginning is waited for once the head of the answer is there: receivers that say more
/// than they need to are judged by their status.
pub(crate) const ANSWER_BODY_WITHIN: Duration = Duration::from_secs(2);
/// A connection to a receiver is used again within this time, and no longer than that in all: names
/// may lead elsewhere by then.
pub(crate) const CONNECTION_IDLE: Duration = Duration::from_secs(30);
pub(crate) const CONNECTION_AGE: Duration = Duration::from_mins(2);
/// Connections that wait to be used again: to one receiver, and in all.
pub(crate) const IDLE_PER_RECEIVER: usize = 8;
pub(crate) const IDLE_CONNECTIONS: usize = 256;

/// First wait for a DNS answer before the query is sent again, or to the next server; doubles.
pub(crate) const DNS_RESEND: Duration = Duration::from_secs(1);
/// Longest wait before a query is sent again.
pub(crate) const DNS_RESEND_MAX: Duration = Duration::from_secs(5);
/// With addresses of one family at hand, the other is waited for this long (RFC 8305 §3).
pub(crate) const DNS_FAMILY_GRACE: Duration = Duration::from_millis(50);
/// Aliases that are followed.
pub(crate) const DNS_ALIASES: usize = 16;
/// Nameservers that are asked.
pub(crate) const DNS_SERVERS: usize = 3;
/// UDP payload that we say we take (the flag day's 1,232), and the room for one.
pub(crate) const DNS_UDP_PAYLOAD: u16 = 1232;
pub(crate) const DNS_UDP_ROOM: usize = 4096;
/// `/etc/resolv.conf` and `/etc/hosts` are read again when they were read longer ago.
pub(crate) const SYSTEM_FILES_KEPT: Duration = Duration::from_secs(5);

/// Characters of a name in a certificate that are kept, and certificates of a chain that are named.
pub(crate) const CERTIFICATE_NAME_CHARS: usize = 256;
pub(crate) const CERTIFICATES_NAMED: usize = 10;
/// Parsed certificate chains in each of two generations.
pub(crate) const CERTIFICATES_KEPT: usize = 1024;
/// Chains, each with a name, that are known to be trusted: some 60 bytes each.
pub(crate) const CHAINS_TRUSTED: usize = 10_000;

/// How many checks may run at a time in this process, by its limit of open files.
pub fn concurrency_limit() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    rules::limits::checks_for_files(files)
}
