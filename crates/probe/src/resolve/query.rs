//! One query to nameservers: over UDP, repeated and to the next server until one responds, and over
//! TCP if a response was truncated. Ignores responses to other queries.

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::Poll;

use domain::check::{Failure, FailureKind};
use hickory_proto::op::{Edns, Message, MessageType, Query, ResponseCode};
use hickory_proto::rr::{Name, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::connect::exhausted;
use crate::limits::{DNS_RESENDS, DNS_UDP_PAYLOAD, DNS_UDP_ROOM};

/// A response to our query.
#[derive(Debug)]
pub(super) struct DnsReply {
    pub(super) message: Message,
    /// The responding server.
    pub(super) server: SocketAddr,
    /// Whether it was received over TCP.
    pub(super) over_tcp: bool,
}

/// Queries `servers` for records of `kind` at `name` until one responds. The caller limits the
/// time. Returns an error response such as SERVFAIL only if no other server responds.
pub(super) async fn query(
    servers: &[SocketAddr],
    name: &Name,
    kind: RecordType,
) -> Result<DnsReply, Failure> {
    let reply = PendingQuery::new(servers, name, kind, true)?.run().await?;
    // Very old servers do not support EDNS, by which we advertise our payload size.
    if matches!(reply.message.metadata.response_code, ResponseCode::FormErr | ResponseCode::NotImp)
    {
        return PendingQuery::new(&[reply.server], name, kind, false)?.run().await;
    }
    Ok(reply)
}

/// Returns the name of a response code.
pub(crate) fn code_name(code: ResponseCode) -> String {
    match u16::from(code) {
        0 => "NOERROR".to_owned(),
        1 => "FORMERR".to_owned(),
        2 => "SERVFAIL".to_owned(),
        3 => "NXDOMAIN".to_owned(),
        4 => "NOTIMP".to_owned(),
        5 => "REFUSED".to_owned(),
        other => format!("RCODE{other}"),
    }
}

struct PendingQuery<'a> {
    servers: &'a [SocketAddr],
    question: Query,
    id: u16,
    bytes: Vec<u8>,
    /// One socket per queried server, so that late responses are still received.
    open: Vec<(SocketAddr, UdpSocket)>,
    /// Final results of servers from which no more is expected.
    settled: Vec<(SocketAddr, Result<DnsReply, Failure>)>,
}

impl<'a> PendingQuery<'a> {
    fn new(
        servers: &'a [SocketAddr],
        name: &Name,
        kind: RecordType,
        extended: bool,
    ) -> Result<Self, Failure> {
        let question = Query::query(name.clone(), kind);
        // Each query has a new random ID; the kernel chooses source ports.
        let mut message = Message::query();
        message.metadata.recursion_desired = true;
        message.add_query(question.clone());
        if extended {
            let mut edns = Edns::new();
            edns.set_max_payload(DNS_UDP_PAYLOAD);
            message.set_edns(edns);
        }
        let bytes = message.to_vec().map_err(|error| {
            let detail = format!("failed to build the query for `{name}`: {error}");
            Failure::new(FailureKind::NameUnresolved, detail)
        })?;
        let (open, settled) = (Vec::new(), Vec::new());
        Ok(Self { servers, question, id: message.metadata.id, bytes, open, settled })
    }

    async fn run(mut self) -> Result<DnsReply, Failure> {
        let mut waits = DNS_RESENDS.pauses();
        loop {
            let wait = waits.next_pause();
            for server in self.servers {
                if self.is_settled(*server) {
                    continue;
                }
                if let Err(error) = self.send(*server).await {
                    self.settle(*server, Err(unreachable(*server, &error)));
                    continue;
                }
                let Ok((received, outcome)) = timeout(wait, self.receive()).await else { continue };
                if let Some(reply) = self.accept(received, outcome).await {
                    return Ok(reply);
                }
            }
            if self.servers.iter().all(|server| self.is_settled(*server)) {
                return self.best_of_settled();
            }
        }
    }

    /// Returns the response in `outcome` if it is final.
    async fn accept(
        &mut self,
        server: SocketAddr,
        outcome: io::Result<Message>,
    ) -> Option<DnsReply> {
        let reply = match outcome {
            Ok(message) if message.metadata.truncation => self.query_by_tcp(server).await,
            Ok(message) => Ok(DnsReply { message, server, over_tcp: false }),
            Err(error) => Err(unreachable(server, &error)),
        };
        match reply {
            Ok(reply) if !is_unwilling(reply.message.metadata.response_code) => Some(reply),
            settled => {
                self.settle(server, settled);
                None
            }
        }
    }

    async fn send(&mut self, server: SocketAddr) -> io::Result<()> {
        if !self.open.iter().any(|(open, _)| *open == server) {
            let any: SocketAddr = if server.is_ipv4() {
                (Ipv4Addr::UNSPECIFIED, 0).into()
            } else {
                (Ipv6Addr::UNSPECIFIED, 0).into()
            };
            let socket = UdpSocket::bind(any).await?;
            // Connected, so that the kernel drops packets of other senders.
            socket.connect(server).await?;
            self.open.push((server, socket));
        }
        for (open, socket) in &self.open {
            if *open == server {
                socket.send(&self.bytes).await?;
            }
        }
        Ok(())
    }

    /// Waits for the first response to our query, or for the first unreachable server.
    async fn receive(&self) -> (SocketAddr, io::Result<Message>) {
        let mut room = vec![0; DNS_UDP_ROOM];
        poll_fn(|cx| {
            for (server, socket) in &self.open {
                loop {
                    let mut buffer = ReadBuf::new(&mut room);
                    let outcome = match socket.poll_recv(cx, &mut buffer) {
                        Poll::Pending => break,
                        Poll::Ready(Err(error)) => Err(error),
                        Poll::Ready(Ok(())) => match self.read(buffer.filled()) {
                            Some(outcome) => outcome,
                            None => continue,
                        },
                    };
                    return Poll::Ready((*server, outcome));
                }
            }
            Poll::Pending
        })
        .await
    }

    fn read(&self, bytes: &[u8]) -> Option<io::Result<Message>> {
        decode_response(bytes, self.id, &self.question)
    }

    async fn query_by_tcp(&self, server: SocketAddr) -> Result<DnsReply, Failure> {
        let message = self.exchange_by_tcp(server).await.map_err(|error| {
            let detail = format!("nameserver {server} does not respond over TCP: {error}");
            Failure::new(failure_kind(&error), detail)
        })?;
        Ok(DnsReply { message, server, over_tcp: true })
    }

    async fn exchange_by_tcp(&self, server: SocketAddr) -> io::Result<Message> {
        let mut stream = TcpStream::connect(server).await?;
        let length = u16::try_from(self.bytes.len()).map_err(io::Error::other)?;
        let framed = [&length.to_be_bytes()[..], &self.bytes].concat();
        stream.write_all(&framed).await?;
        loop {
            let length = stream.read_u16().await?;
            let mut bytes = vec![0; usize::from(length)];
            stream.read_exact(&mut bytes).await?;
            if let Some(message) = self.read(&bytes) {
                return message;
            }
        }
    }

    fn is_settled(&self, server: SocketAddr) -> bool {
        self.settled.iter().any(|(settled, _)| *settled == server)
    }

    fn settle(&mut self, server: SocketAddr, outcome: Result<DnsReply, Failure>) {
        self.open.retain(|(open, _)| *open != server);
        self.settled.push((server, outcome));
    }

    fn best_of_settled(self) -> Result<DnsReply, Failure> {
        let none = Failure::new(FailureKind::NameUnresolved, "no nameserver is configured");
        let mut best = Err(none);
        for (_, outcome) in self.settled.into_iter().rev() {
            if best.is_err() || outcome.is_ok() {
                best = outcome;
            }
        }
        best
    }
}

/// Decodes the message in `bytes` if it is a response to the query with this `id`.
pub(crate) fn decode_response(
    bytes: &[u8],
    id: u16,
    question: &Query,
) -> Option<io::Result<Message>> {
    if bytes.get(..2) != Some(&id.to_be_bytes()) {
        return None;
    }
    let message = match Message::from_vec(bytes) {
        Ok(message) => message,
        Err(error) => return Some(Err(io::Error::new(io::ErrorKind::InvalidData, error))),
    };
    let ours = match message.queries.as_slice() {
        [asked] => {
            asked.name.eq_ignore_root(&question.name)
                && asked.query_type == question.query_type
                && asked.query_class == question.query_class
        }
        // A server that could not parse the query cannot repeat it.
        [] => message.metadata.response_code != ResponseCode::NoError,
        _ => false,
    };
    (ours && message.metadata.message_type == MessageType::Response).then_some(Ok(message))
}

/// Returns whether a nameserver cannot or will not respond, so that another one may know more.
fn is_unwilling(code: ResponseCode) -> bool {
    matches!(code, ResponseCode::ServFail | ResponseCode::Refused)
}

fn unreachable(server: SocketAddr, error: &io::Error) -> Failure {
    let detail = if error.kind() == io::ErrorKind::InvalidData {
        format!("nameserver {server} sent an invalid DNS message: {error}")
    } else if error.kind() == io::ErrorKind::ConnectionRefused {
        format!("connection refused by nameserver {server}")
    } else {
        format!("failed to reach nameserver {server}: {error}")
    };
    Failure::new(failure_kind(error), detail)
}

fn failure_kind(error: &io::Error) -> FailureKind {
    if exhausted(error) {
        FailureKind::ProbeExhausted
    } else if error.kind() == io::ErrorKind::InvalidData {
        FailureKind::ProtocolBroken
    } else {
        FailureKind::NameUnresolved
    }
}
