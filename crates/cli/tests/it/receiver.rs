//! A receiver of messages that accepts them, returns 500 or does not respond. It records each
//! accepted message before it responds. Therefore every message that the sender counts as delivered
//! is recorded.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use serde_json::Value;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
/// Method that only the test sends. It is read after everything sent before.
const MARK: &str = "MARK";
const BROKEN: &[u8] = b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Behaviour of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Accepts everything.
    Well,
    /// Returns 500.
    Failing,
    /// Accepts the request but does not respond.
    Silent,
}

/// An event of a monitor: its incident, and whether it began or ended. For a status page, an update
/// of a report and its kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReceivedEvent {
    pub(crate) incident: String,
    pub(crate) event: String,
}

/// An accepted message.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    /// Number of the server's life.
    pub(crate) life: u64,
    /// Idempotency key.
    pub(crate) key: String,
    /// Events in the message.
    pub(crate) events: Vec<ReceivedEvent>,
}

/// A receiver on loopback that runs until the test's process ends.
pub(crate) struct Receiver {
    address: SocketAddr,
    book: Arc<Book>,
}

/// State that a receiver's threads share.
struct Book {
    shared: Mutex<Shared>,
    /// Signalled after each served connection.
    served: Condvar,
}

struct Shared {
    mood: Mood,
    life: u64,
    /// Number of connections being served.
    serving: usize,
    accepted: Vec<Accepted>,
    /// Connections without a response until the behaviour changes.
    unanswered: Vec<TcpStream>,
    messages: Sender<()>,
}

impl Receiver {
    /// Starts a receiver. `messages` gets a message for each accepted message.
    pub(crate) fn start(messages: Sender<()>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, unanswered) = (Vec::new(), Vec::new());
        let shared =
            Shared { mood: Mood::Well, life: 0, serving: 0, accepted, unanswered, messages };
        let book = Arc::new(Book { shared: Mutex::new(shared), served: Condvar::new() });
        let this = Self { address, book: Arc::clone(&book) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                book.shared.lock().unwrap().serving += 1;
                let book = Arc::clone(&book);
                std::thread::spawn(move || {
                    serve(stream, &book);
                    book.shared.lock().unwrap().serving -= 1;
                    book.served.notify_all();
                });
            }
        });
        this
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Changes the behaviour. Pending connections are closed.
    pub(crate) fn be(&self, mood: Mood) {
        let mut shared = self.lock();
        shared.mood = mood;
        shared.unanswered.clear();
    }

    /// Begins another life of the server, which was killed. Waits until everything in the buffers
    /// is read.
    pub(crate) fn next_life(&self) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(format!("{MARK}\r\n").as_bytes()).unwrap();
        let answered = stream.read(&mut [0; 1]).unwrap();
        assert_eq!(answered, 1, "the mark was read");
    }

    pub(crate) fn accepted(&self) -> Vec<Accepted> {
        self.lock().accepted.clone()
    }

    /// Returns the keys under which each event arrived.
    pub(crate) fn keys(&self) -> BTreeMap<ReceivedEvent, Vec<String>> {
        let mut keys: BTreeMap<ReceivedEvent, Vec<String>> = BTreeMap::new();
        for message in self.accepted() {
            for event in message.events {
                keys.entry(event).or_default().push(message.key.clone());
            }
        }
        keys
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.book.shared.lock().unwrap()
    }
}

/// Reads one message and handles it by the current behaviour. Returns `None` if the client
/// disconnects.
fn serve(stream: TcpStream, book: &Book) -> Option<()> {
    let mut reader = BufReader::new(&stream);
    let (mut length, mut key) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line == MARK {
            return turn_over(&stream, book);
        }
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "webhook-id" => key = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let mut shared = book.shared.lock().unwrap();
    match shared.mood {
        Mood::Well => {
            let (key, events) = read(key, &body);
            let life = shared.life;
            shared.accepted.push(Accepted { life, key, events });
            // The test may have ended.
            let _ = shared.messages.send(());
            drop(shared);
            (&stream).write_all(OK).ok()
        }
        Mood::Failing => {
            drop(shared);
            (&stream).write_all(BROKEN).ok()
        }
        Mood::Silent => {
            shared.unanswered.push(stream);
            None
        }
    }
}

/// Waits until no other connection is being served, then begins another life.
fn turn_over(mut stream: &TcpStream, book: &Book) -> Option<()> {
    let shared = book.shared.lock().unwrap();
    let mut shared = book.served.wait_while(shared, |shared| shared.serving > 1).unwrap();
    shared.life += 1;
    stream.write_all(b"!").ok()
}

/// Returns a webhook's key and events. Grafana OnCall identifies its alerts by incident and state.
fn read(key: Option<String>, body: &Value) -> (String, Vec<ReceivedEvent>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let events = body["data"]["events"].as_array();
    let is_of_page = body["data"]["page"].is_object();
    if let Some(events) = events.filter(|_| !is_of_page) {
        let received = |event: &Value| ReceivedEvent {
            incident: text(&event["incident"]),
            event: text(&event["event"]),
        };
        return (key.expect("webhooks have a key"), events.iter().map(received).collect());
    }
    if let Some(events) = events {
        let received = |event: &Value| ReceivedEvent {
            incident: text(&event["report"]["update"]),
            event: text(&event["type"]),
        };
        return (key.expect("webhooks have a key"), events.iter().map(received).collect());
    }
    let incident = text(&body["alert_uid"]);
    let event = if body["state"] == "ok" { "recovered" } else { "error" };
    let received = ReceivedEvent { incident, event: event.to_owned() };
    (format!("{}-{}", received.incident, received.event), vec![received])
}
