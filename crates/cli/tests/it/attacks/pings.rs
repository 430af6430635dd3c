//! HTTP/2 connections that look alive: they send pings, answer the server's, and request nothing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinSet;

use super::streams::push_frame;
use super::{FEW_FILES, OpenConnection, attack};
use crate::process::{Home, get};

/// Number of connections, several times the server's places.
const CONNECTIONS: usize = 256;
/// Pause between the pings of a connection.
const PAUSE: Duration = Duration::from_millis(50);
/// Types of frames (RFC 9113 §6), and the flag of an answer.
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;

/// Sends pings until the server closes the connection.
async fn send_pings(writer: Arc<Mutex<OwnedWriteHalf>>) {
    let mut ping = Vec::new();
    push_frame(&mut ping, PING, 0, 0, b"attacked");
    let mut due = tokio::time::interval(PAUSE);
    while writer.lock().await.write_all(&ping).await.is_ok() {
        due.tick().await;
    }
}

/// Answers pings until the server closes the connection. Notifies `answered` of the server's answers.
async fn answer_pings(
    mut reader: OwnedReadHalf,
    writer: Arc<Mutex<OwnedWriteHalf>>,
    answered: Arc<Notify>,
) -> std::io::Result<()> {
    loop {
        let mut head = [0; 9];
        reader.read_exact(&mut head).await?;
        let [_, high, low, kind, flags, ..] = head;
        let mut payload = vec![0; usize::from(high) * 256 + usize::from(low)];
        reader.read_exact(&mut payload).await?;
        match (kind, flags & ACK) {
            (PING, ACK) => answered.notify_one(),
            (PING | SETTINGS, 0) => {
                let payload = if kind == PING { &*payload } else { b"" };
                let mut answer = Vec::new();
                push_frame(&mut answer, kind, ACK, 0, payload);
                writer.lock().await.write_all(&answer).await?;
            }
            _ => {}
        }
    }
}

/// Opens a connection that lives as long as the server allows.
async fn open(address: SocketAddr, answered: Arc<Notify>, lives: &mut JoinSet<()>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    push_frame(&mut sent, SETTINGS, 0, 0, b"");
    // The server may have closed the connection already.
    let _ = stream.write_all(&sent).await;
    let (reader, writer) = stream.into_split();
    let writer = Arc::new(Mutex::new(writer));
    lives.spawn(async move {
        tokio::select! {
            () = send_pings(Arc::clone(&writer)) => {}
            _closed = answer_pings(reader, Arc::clone(&writer), answered) => {}
        }
    });
}

// issue 16, point 1: connections that only answer pings held the places of all others
#[test]
fn pings_hold_no_place() {
    attack(|| {
        let (home, key) = Home::with_key();
        let server = home.serve_with_files(FEW_FILES);
        let address = server.address;
        let mut keyed = OpenConnection::open(address);
        let read = format!("x-service-key: {key}\r\ncontent-type: application/json\r\n");
        let list = "/rpc/monitor.v1.MonitorService/ListMonitors";
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (answered, mut lives) = (Arc::<Notify>::default(), JoinSet::new());
            for number in 0..CONNECTIONS {
                open(address, Arc::clone(&answered), &mut lives).await;
                if number % 32 == 31 {
                    assert_eq!(get(address, "/readyz").unwrap().status, 200, "{number}");
                    assert_eq!(get(address, "/status/none").unwrap().status, 404, "{number}");
                    assert_eq!(keyed.send("POST", list, &read, b"{}").0, 200, "{number}");
                }
            }
            // More connections than the server has places: it closes some, and answers pings of others.
            lives.join_next().await.unwrap().unwrap();
            answered.notified().await;
        });
        assert!(server.stop().success());
    });
}
