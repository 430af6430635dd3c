//! A receiver of messages that is well, answers 500 or answers nothing, as it is told, and writes
//! down what it accepted, before it says so: what a sender counts as delivered is in its book.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use serde_json::Value;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
/// What nobody sends but the test: all that was on its way before has been read.
const MARK: &str = "MARK";
const BROKEN: &[u8] = b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// How a receiver behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// It takes everything.
    Well,
    /// It answers 500.
    Failing,
    /// It takes the request and answers nothing.
    Silent,
}

/// What is told of one monitor: its incident, and whether that began or ended. Of a status page, the update
/// of a report instead of an incident, and what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    pub(super) incident: String,
    pub(super) event: String,
}

/// A message that was accepted.
#[derive(Clone, Debug)]
pub(super) struct Accepted {
    /// In which life of the server.
    pub(super) life: u64,
    /// Its idempotency key.
    pub(super) key: String,
    /// What it tells.
    pub(super) told: Vec<Told>,
}

/// A receiver on loopback, until the test's process ends.
pub(super) struct Receiver {
    address: SocketAddr,
    book: Arc<Book>,
}

/// What a receiver's threads share.
struct Book {
    shared: Mutex<Shared>,
    /// Somebody was served.
    served: Condvar,
}

struct Shared {
    mood: Mood,
    life: u64,
    /// Connections that are being served.
    serving: usize,
    accepted: Vec<Accepted>,
    /// Connections that nobody answers, until the mood changes.
    unanswered: Vec<TcpStream>,
    news: Sender<()>,
}

impl Receiver {
    /// Starts it; `news` hears of every message that is accepted.
    pub(super) fn start(news: Sender<()>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, unanswered) = (Vec::new(), Vec::new());
        let shared = Shared { mood: Mood::Well, life: 0, serving: 0, accepted, unanswered, news };
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

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// How it behaves from now on; who still waits for an answer gets none.
    pub(super) fn be(&self, mood: Mood) {
        let mut shared = self.lock();
        shared.mood = mood;
        shared.unanswered.clear();
    }

    /// The server, which was killed, begins another life. What it sent before is read by then: it
    /// may still lie in buffers.
    pub(super) fn next_life(&self) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(format!("{MARK}\r\n").as_bytes()).unwrap();
        let answered = stream.read(&mut [0; 1]).unwrap();
        assert_eq!(answered, 1, "the mark was read");
    }

    pub(super) fn accepted(&self) -> Vec<Accepted> {
        self.lock().accepted.clone()
    }

    /// Under which keys each event was told.
    pub(super) fn keys(&self) -> BTreeMap<Told, Vec<String>> {
        let mut keys: BTreeMap<Told, Vec<String>> = BTreeMap::new();
        for message in self.accepted() {
            for told in message.told {
                keys.entry(told).or_default().push(message.key.clone());
            }
        }
        keys
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.book.shared.lock().unwrap()
    }
}

/// Reads one message and does with it as the mood is; who goes away in the middle told nothing.
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
            let (key, told) = read(key, &body);
            let life = shared.life;
            shared.accepted.push(Accepted { life, key, told });
            // The test may be over.
            let _ = shared.news.send(());
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

/// Waits until nobody else is served, and begins another life.
fn turn_over(mut stream: &TcpStream, book: &Book) -> Option<()> {
    let shared = book.shared.lock().unwrap();
    let mut shared = book.served.wait_while(shared, |shared| shared.serving > 1).unwrap();
    shared.life += 1;
    stream.write_all(b"!").ok()
}

/// A webhook's events and key; of Grafana OnCall, whose alerts are known by incident and state, the
/// same in its words.
fn read(key: Option<String>, body: &Value) -> (String, Vec<Told>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(events) = body["data"]["events"].as_array() {
        let told = |event: &Value| Told {
            incident: text(&event["incident"]),
            event: text(&event["event"]),
        };
        return (key.expect("webhooks carry their key"), events.iter().map(told).collect());
    }
    if let Some(news) = body["data"]["news"].as_array() {
        let told = |news: &Value| Told {
            incident: text(&news["report"]["update"]),
            event: text(&news["type"]),
        };
        return (key.expect("webhooks carry their key"), news.iter().map(told).collect());
    }
    let incident = text(&body["alert_uid"]);
    let event = if body["state"] == "ok" { "recovered" } else { "error" };
    let told = Told { incident, event: event.to_owned() };
    (format!("{}-{}", told.incident, told.event), vec![told])
}
