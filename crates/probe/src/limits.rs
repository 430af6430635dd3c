//! Internal limits of the probe: sizes, waiting times and concurrency. Limits visible to users are
//! in the tables of `rules`.

use std::time::Duration;

use domain::backoff::Backoff;

/// Time after which a second address is tried in parallel (RFC 8305 §5).
pub(crate) const CONNECT_FALLBACK: Duration = Duration::from_millis(250);
/// Maximum number of addresses tried per name.
pub(crate) const ADDRESSES_TRIED: usize = 8;

/// Maximum size of an HTTP response head.
pub(crate) const HEAD_BYTES: usize = 128 * 1024;
/// Maximum number of header lines in an HTTP response.
pub(crate) const HEAD_LINES: usize = 256;
/// Default number of header lines in hyper, used for hosts that did not need more yet.
pub(crate) const HEAD_LINES_USUAL: usize = 100;
/// Maximum number of hosts remembered for needing more.
pub(crate) const LARGE_HEADER_HOSTS: usize = 4096;
/// Maximum bytes of a body read from the network. Latency is measured to the last byte, so bodies
/// are read beyond what the plan keeps. After this limit the body counts as truncated, so that a
/// monitor of a large file does not download it every period.
pub(crate) const BODY_READ: usize = 16 * 1024 * 1024;
/// Share of the memory for bodies that one workspace may use: one in this many.
pub(crate) const BODY_MEMORY_SHARE: usize = 4;
/// Maximum number of nested content encodings.
pub(crate) const CODINGS: usize = 3;
/// Approximate memory of a decoder, besides its output.
pub(crate) const DECODER_BYTES: usize = 64 * 1024;
/// Encoded bytes decoded at a time, so that a few bytes with large output use little memory.
pub(crate) const DECODE_STEP: usize = 1024;
/// Maximum output of one step of an encoding nested in another.
pub(crate) const DECODE_STEP_UNFOLDS: usize = 4 * 1024 * 1024;

/// Maximum bytes kept of the response to a message.
pub(crate) const RESPONSE_BODY: usize = 16 * 1024;
/// Maximum body size of the response to a message; a longer one is treated as endless.
pub(crate) const RESPONSE_BODY_DRAINED: usize = 1024 * 1024;
/// Maximum time to read that body after the head; the status of the receiver is enough.
pub(crate) const RESPONSE_BODY_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum idle time and age of a connection to a receiver, because names may resolve to other
/// addresses later.
pub(crate) const CONNECTION_IDLE: Duration = Duration::from_secs(30);
pub(crate) const CONNECTION_AGE: Duration = Duration::from_mins(2);
/// Maximum number of idle connections: per receiver, and in total.
pub(crate) const IDLE_PER_RECEIVER: usize = 8;
pub(crate) const IDLE_CONNECTIONS: usize = 256;

/// Waits for a DNS response before the query is sent again, or to the next server.
pub(crate) const DNS_RESENDS: Backoff =
    Backoff { first: Duration::from_secs(1), max: Duration::from_secs(5) };
/// Maximum wait for the second address family after the first has addresses (RFC 8305 §3).
pub(crate) const DNS_FAMILY_GRACE: Duration = Duration::from_millis(50);
/// Maximum number of aliases followed.
pub(crate) const DNS_ALIASES: usize = 16;
/// Maximum number of nameservers used.
pub(crate) const DNS_SERVERS: usize = 3;
/// UDP payload size that we advertise (1,232 as of DNS flag day), and the size of the receive
/// buffer.
pub(crate) const DNS_UDP_PAYLOAD: u16 = 1232;
pub(crate) const DNS_UDP_ROOM: usize = 4096;
/// Time after which `/etc/resolv.conf` and `/etc/hosts` are read again.
pub(crate) const SYSTEM_FILES_KEPT: Duration = Duration::from_secs(5);

/// Maximum characters of a name in a certificate, and maximum number of named certificates in a
/// chain.
pub(crate) const CERTIFICATE_NAME_CHARS: usize = 256;
pub(crate) const CERTIFICATES_NAMED: usize = 10;
/// Number of parsed certificate chains in each of two generations.
pub(crate) const CERTIFICATES_KEPT: usize = 1024;
/// Number of client certificates in each of two generations.
pub(crate) const CLIENT_CERTIFICATES_KEPT: usize = 1024;
/// Maximum number of trusted chains, each with a name; some 60 bytes each.
pub(crate) const CHAINS_TRUSTED: usize = 10_000;

/// Returns how many checks may run at a time in this process, given its limit of open files.
pub fn concurrency_limit() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    rules::limits::checks_for_files(files)
}
