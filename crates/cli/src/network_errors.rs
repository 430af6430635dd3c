//! Failures of the network in plain words, with the way out. Leaves errors of the service as they are.

use std::error::Error as StdError;
use std::io;

use contract::rpc::{self, Error};

/// Fix if no connection could be made.
const UNREACHABLE: &str = "start the server with `aloft serve`, or give the address of a running one \
    with `--base-url` or SERVICE_API_URL";
const TRUST: &str = "if the address is right, set SSL_CERT_FILE to a file with the certificate of its \
    authority";
/// Beginnings of the messages for responses that are not the service's.
const FOREIGN: [&str; 3] = ["HTTP error ", "unexpected content-type", "failed to decode"];
/// Longest part of such a message, in characters. It may quote a page.
const QUOTED_CHARS: usize = 40;
/// Parts of texts of TLS and of the system's resolver, which have no type here.
const CERTIFICATE: &str = "invalid peer certificate: ";
const NO_TLS: &str = "InvalidContentType";
const LOOKUP: &str = "failed to lookup address";

/// Returns the words for a failure between the program and the service, or `None` for an error of the
/// service.
pub(crate) fn words(error: &Error) -> Option<String> {
    if let Some(failure) = rpc::proxy_failure(error) {
        let variable = failure.variable;
        return Some(format!(
            "cannot connect: {failure}; correct {variable}, or add the host to NO_PROXY"
        ));
    }
    if rpc::is_self_signed(error) {
        return Some(
            "cannot connect: the certificate of the service is self-signed and not trusted; if the \
             address is right, set SSL_CERT_FILE to a file with this certificate"
                .to_owned(),
        );
    }
    if rpc::is_unsent(error) {
        return Some(format!("cannot connect: {}", unsent(error)));
    }
    let message = error.message.as_deref()?;
    FOREIGN.iter().find(|beginning| message.starts_with(**beginning))?;
    let first = message.split([':', '<', '\n']).next().unwrap_or_default();
    let first: String = first.trim().chars().take(QUOTED_CHARS).collect();
    Some(format!(
        "the response is not from an Aloft server ({first}); check the address, which usually ends in \
         /rpc, and the proxy before it"
    ))
}

/// Describes why a call was not sent.
fn unsent(error: &Error) -> String {
    let cause = cause(error);
    let text = cause.as_ref().map(ToString::to_string).unwrap_or_default();
    if let Some((_, why)) = text.split_once(CERTIFICATE) {
        return format!("the certificate of the service is not valid ({why}); {TRUST}");
    }
    if text.contains(NO_TLS) {
        return "the service does not speak TLS at this address; write http:// instead of https://"
            .to_owned();
    }
    if text.contains(LOOKUP) {
        return format!("the host was not found ({text}); correct the address");
    }
    let kind = cause.and_then(|it| it.downcast_ref::<io::Error>()).map(io::Error::kind);
    let plain = match kind {
        Some(io::ErrorKind::ConnectionRefused) => "nothing listens at this address",
        Some(io::ErrorKind::TimedOut) => "the host does not respond",
        Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
            "there is no way to the host"
        }
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof) => {
            "the host ended the connection"
        }
        Some(_) | None => return format!("{text}; {UNREACHABLE}"),
    };
    format!("{plain} ({text}); {UNREACHABLE}")
}

/// Returns the deepest cause of an error, which is the most specific one.
fn cause(error: &Error) -> Option<&(dyn StdError + 'static)> {
    let mut cause = error.source()?;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Some(cause)
}
