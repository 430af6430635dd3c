//! A DNS target: a small zone over UDP and TCP on one port, with scripted replies that may be
//! wrong, late, too long or missing.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME, MX, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use rules::RecordKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::Running;

/// TTL of each record in seconds.
const TTL: u32 = 300;
/// Maximum number of tries to find a port that is free for both UDP and TCP.
const PORTS_TRIED: usize = 50;

/// A running nameserver on 127.0.0.1.
#[derive(Debug)]
pub struct DnsTarget {
    address: SocketAddr,
    zone: Arc<Mutex<Zone>>,
    _task: Running,
}

/// A scripted reply. Records have the format of [`DnsTarget::record`].
#[derive(Clone, Debug)]
pub enum DnsReply {
    /// These records with any owner: `(owner, kind, value)`.
    Records(Vec<(&'static str, RecordKind, &'static str)>),
    /// No records and this code.
    Code(Code),
    /// No reply.
    Silence,
    /// A truncated reply over UDP, and the zone's records over TCP.
    TooLong,
    /// A reply to another question, one with another id, and then the zone's reply.
    ForgedFirst,
    /// Bytes that are not DNS, with the correct id.
    Garbage,
    /// No reply to the first question, then the zone's reply.
    LostOnce,
}

/// A response code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The server does not understand the question.
    FormErr,
    /// The server failed.
    ServFail,
    /// The name does not exist.
    NxDomain,
    /// The server refuses to answer.
    Refused,
}

#[derive(Debug, Default)]
struct Zone {
    records: Vec<(Name, RData)>,
    scripted: HashMap<(Name, RecordType), Vec<DnsReply>>,
    questions: Vec<(String, RecordKind)>,
}

impl DnsTarget {
    /// Starts a nameserver with an empty zone.
    pub async fn start() -> Self {
        let (udp, tcp) = bind().await;
        let address = udp.local_addr().expect("the socket is bound");
        let zone = Arc::new(Mutex::new(Zone::default()));
        let shared = Arc::clone(&zone);
        let task = tokio::spawn(async move {
            tokio::join!(serve_udp(udp, &shared), serve_tcp(tcp, &shared));
        });
        Self { address, zone, _task: Running(task) }
    }

    /// Adds a record: an address, a name, `10 mail.test`, or a text whose strings are separated by
    /// `|`.
    pub fn record(&self, owner: &str, kind: RecordKind, value: &str) -> &Self {
        self.lock().records.push((name(owner), data(kind, value)));
        self
    }

    /// Adds an address.
    pub fn address_of(&self, owner: &str, address: &str) -> &Self {
        let kind = if address.contains(':') { RecordKind::Aaaa } else { RecordKind::A };
        self.record(owner, kind, address)
    }

    /// Sets the reply to questions for `kind` at `owner`.
    pub fn reply(&self, owner: &str, kind: RecordKind, reply: DnsReply) -> &Self {
        self.reply_each(owner, kind, vec![reply])
    }

    /// Sets a sequence of replies. The last one repeats.
    pub fn reply_each(&self, owner: &str, kind: RecordKind, replies: Vec<DnsReply>) -> &Self {
        self.lock().scripted.insert((name(owner), record_type(kind)), replies);
        self
    }

    /// Sets the reply to questions for addresses at `owner`.
    pub fn reply_addresses(&self, owner: &str, reply: &DnsReply) -> &Self {
        self.reply(owner, RecordKind::A, reply.clone()).reply(
            owner,
            RecordKind::Aaaa,
            reply.clone(),
        )
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns all questions in order, without trailing dots.
    pub fn asked(&self) -> Vec<(String, RecordKind)> {
        self.lock().questions.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Zone> {
        self.zone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn bind() -> (UdpSocket, TcpListener) {
    for _ in 0..PORTS_TRIED {
        let tcp = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = tcp.local_addr().expect("the socket is bound");
        if let Ok(udp) = UdpSocket::bind(address).await {
            return (udp, tcp);
        }
    }
    panic!("found no port that is free for both UDP and TCP in {PORTS_TRIED} tries");
}

async fn serve_udp(socket: UdpSocket, zone: &Mutex<Zone>) {
    let mut room = [0; 4096];
    while let Ok((length, from)) = socket.recv_from(&mut room).await {
        let Ok(question) = Message::from_vec(&room[..length]) else { continue };
        for packet in packets(zone, &question, Channel::Udp) {
            let _ = socket.send_to(&packet, from).await;
        }
    }
}

async fn serve_tcp(listener: TcpListener, zone: &Mutex<Zone>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        while let Ok(packets) = read_tcp(&mut stream, zone).await {
            for packet in packets {
                let length = u16::try_from(packet.len()).expect("test zones are small");
                let framed = [&length.to_be_bytes()[..], &packet].concat();
                let _ = stream.write_all(&framed).await;
            }
        }
    }
}

async fn read_tcp(stream: &mut TcpStream, zone: &Mutex<Zone>) -> std::io::Result<Vec<Vec<u8>>> {
    let length = stream.read_u16().await?;
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes).await?;
    let question = Message::from_vec(&bytes).map_err(std::io::Error::other)?;
    Ok(packets(zone, &question, Channel::Tcp))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    Udp,
    Tcp,
}

/// Returns the packets sent in reply to `question`.
fn packets(zone: &Mutex<Zone>, question: &Message, channel: Channel) -> Vec<Vec<u8>> {
    let mut zone = zone.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(query) = question.queries.first() else { return Vec::new() };
    let (owner, kind) = (query.name.to_lowercase(), query.query_type);
    if let Some(kind) = record_kind(kind) {
        zone.questions.push((owner.to_ascii().trim_end_matches('.').to_owned(), kind));
    }
    let usual = zone.recursive_reply(question, &owner, kind);
    let with = |change: &dyn Fn(&mut Message)| {
        let mut message = empty(question);
        change(&mut message);
        vec![to_bytes(&message)]
    };
    let scripted = zone.next_scripted(owner, kind);
    match scripted {
        Some(DnsReply::Silence | DnsReply::LostOnce) => Vec::new(),
        Some(DnsReply::Code(code)) => with(&|message| message.metadata.response_code = code.wire()),
        Some(DnsReply::Records(records)) => with(&|message| {
            for (owner, kind, value) in &records {
                let record = Record::from_rdata(name(owner), TTL, data(*kind, value));
                message.add_answer(record);
            }
        }),
        Some(DnsReply::TooLong) if channel == Channel::Udp => {
            with(&|message| message.metadata.truncation = true)
        }
        None | Some(DnsReply::TooLong) => vec![to_bytes(&usual)],
        Some(DnsReply::ForgedFirst) => {
            let mut other_id = usual.clone();
            other_id.metadata.id ^= 1;
            other_id.answers = forged();
            let mut other_question = usual.clone();
            other_question.queries[0].name = name("other.test");
            other_question.answers = forged();
            vec![to_bytes(&other_id), to_bytes(&other_question), to_bytes(&usual)]
        }
        Some(DnsReply::Garbage) => {
            vec![[&question.metadata.id.to_be_bytes()[..], &[0xff; 9]].concat()]
        }
    }
}

fn forged() -> Vec<Record> {
    vec![Record::from_rdata(name("forged.test"), TTL, data(RecordKind::A, "192.0.2.66"))]
}

impl Zone {
    fn next_scripted(&mut self, owner: Name, kind: RecordType) -> Option<DnsReply> {
        let key = (owner, kind);
        let left = self.scripted.get_mut(&key)?;
        match left.as_slice() {
            [DnsReply::LostOnce] => self.scripted.remove(&key)?.pop(),
            [last] => Some(last.clone()),
            _ => Some(left.remove(0)),
        }
    }

    /// Returns the reply that a recursive nameserver would give for this zone.
    fn recursive_reply(&self, question: &Message, owner: &Name, kind: RecordType) -> Message {
        let mut message = empty(question);
        let mut at = owner.clone();
        for _ in 0..=self.records.len() {
            let here = self.records.iter().filter(|(name, _)| *name == at);
            let alias = here.clone().find_map(|(_, data)| alias(data));
            let alias = alias.filter(|_| kind != RecordType::CNAME);
            for (name, data) in here {
                if data.record_type() == kind || alias.is_some() {
                    message.add_answer(Record::from_rdata(name.clone(), TTL, data.clone()));
                }
            }
            match alias {
                Some(alias) => at = alias,
                None => break,
            }
        }
        if !self.records.iter().any(|(name, _)| *name == at) {
            message.metadata.response_code = ResponseCode::NXDomain;
        }
        message
    }
}

impl Code {
    fn wire(self) -> ResponseCode {
        match self {
            Self::FormErr => ResponseCode::FormErr,
            Self::ServFail => ResponseCode::ServFail,
            Self::NxDomain => ResponseCode::NXDomain,
            Self::Refused => ResponseCode::Refused,
        }
    }
}

fn empty(question: &Message) -> Message {
    let mut message = Message::response(question.metadata.id, question.metadata.op_code);
    message.metadata.recursion_desired = true;
    message.metadata.recursion_available = true;
    message.add_queries(question.queries.iter().cloned());
    message
}

fn to_bytes(message: &Message) -> Vec<u8> {
    message.to_vec().expect("test zones are valid")
}

fn name(text: &str) -> Name {
    let mut name = Name::from_ascii(text).expect("tests use valid names").to_lowercase();
    name.set_fqdn(true);
    name
}

fn data(kind: RecordKind, value: &str) -> RData {
    match kind {
        RecordKind::A => RData::A(A(value.parse().expect("an IPv4 address"))),
        RecordKind::Aaaa => RData::AAAA(AAAA(value.parse().expect("an IPv6 address"))),
        RecordKind::Cname => RData::CNAME(CNAME(name(value))),
        RecordKind::Mx => {
            let (preference, exchange) = value.split_once(' ').expect("a number and a name");
            RData::MX(MX::new(preference.parse().expect("a number"), name(exchange)))
        }
        RecordKind::Txt => RData::TXT(TXT::new(value.split('|').map(str::to_owned).collect())),
    }
}

fn alias(data: &RData) -> Option<Name> {
    if let RData::CNAME(alias) = data { Some(alias.0.clone()) } else { None }
}

fn record_type(kind: RecordKind) -> RecordType {
    match kind {
        RecordKind::A => RecordType::A,
        RecordKind::Aaaa => RecordType::AAAA,
        RecordKind::Cname => RecordType::CNAME,
        RecordKind::Mx => RecordType::MX,
        RecordKind::Txt => RecordType::TXT,
    }
}

fn record_kind(kind: RecordType) -> Option<RecordKind> {
    [RecordKind::A, RecordKind::Aaaa, RecordKind::Cname, RecordKind::Mx, RecordKind::Txt]
        .into_iter()
        .find(|known| record_type(*known) == kind)
}
