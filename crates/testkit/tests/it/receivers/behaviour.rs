//! Receivers misbehave as configured, and then work again.

use domain::notify::{EventBatch, EventKind};
use rules::ProviderType;
use testkit::receivers::Behaviour;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::fixtures::{event, message, post, receiver};

const LINK: &str = "https://status.example.com/";

#[tokio::test]
async fn receiver_misbehaves_given_times_then_accepts() {
    let receiver = receiver(ProviderType::Slack).await;
    receiver.behave_times(2, Behaviour::Status(500));
    receiver.behave_times(1, Behaviour::Busy(7));
    let event = event(EventKind::Error, "API");
    let message = message(&receiver, EventBatch::One(&event), LINK);
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let reply = post(&receiver, &message).await;
        statuses.push((reply.status.as_u16(), reply.headers.get("retry-after").cloned()));
    }
    assert_eq!(statuses.iter().map(|it| it.0).collect::<Vec<_>>(), [500, 500, 429, 200]);
    assert_eq!(statuses[2].1.as_ref().unwrap(), "7");
    assert_eq!(receiver.wait_for_turned_away(3).await.len(), 3);
    assert_eq!(receiver.takes(1).await.len(), 1);
    receiver.behave(Behaviour::Redirect("http://10.0.0.1/".to_owned()));
    let reply = post(&receiver, &message).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.headers["location"]),
        (307, &"http://10.0.0.1/".parse().unwrap())
    );
    receiver.behave_well();
    assert_eq!(post(&receiver, &message).await.status, 200);
}

/// Reads the first bytes of the response, which may be empty.
async fn first_bytes(base: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(base.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut bytes = vec![0; 1 << 20];
    let count = stream.read(&mut bytes).await.unwrap_or(0);
    bytes.truncate(count);
    bytes
}

#[tokio::test]
async fn misbehaviour_sends_no_valid_response() {
    let receiver = receiver(ProviderType::Slack).await;
    for (behaviour, beginning) in [
        (Behaviour::Close, ""),
        (Behaviour::Garbage, "220 mail.example.com"),
        (
            Behaviour::Gigabyte,
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1073741824",
        ),
        (Behaviour::Endless, "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"),
    ] {
        receiver.behave(behaviour.clone());
        let bytes = first_bytes(&receiver.base()).await;
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            text.starts_with(beginning) && text.is_empty() == beginning.is_empty(),
            "{behaviour:?}: {text}"
        );
    }
    assert_eq!((receiver.accepted(), receiver.refused()), (Vec::new(), Vec::new()));
}
