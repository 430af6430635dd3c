//! Emails to a scripted mail server. End-to-end tests cover TLS, passwords and a real server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_795_219_200_000);
/// Longer than any operation here takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Mail server that overrides the replies to commands with certain prefixes.
struct Post {
    mailer: Mailer,
    mails: mpsc::UnboundedReceiver<String>,
    connections: Arc<AtomicUsize>,
}

type Replies = &'static [(&'static str, &'static str)];

async fn a_post(tls: MailTls, replies: Replies) -> Post {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (comes, mails) = mpsc::unbounded_channel();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(talk(tcp, replies, comes.clone()));
        }
    });
    let from = "Aloft <aloft@example.com>".parse().unwrap();
    let server = MailServer { host: "127.0.0.1".to_owned(), port, tls, account: None, from };
    Post { mailer: Mailer::new(server, &[] as &[Vec<u8>]).unwrap(), mails, connections }
}

async fn talk(
    mut tcp: TcpStream,
    replies: Replies,
    comes: mpsc::UnboundedSender<String>,
) -> Option<()> {
    let (read, mut write) = tcp.split();
    let mut lines = BufReader::new(read).lines();
    let way =
        |command: &str| replies.iter().find(|(word, _)| command.starts_with(word)).map(|it| it.1);
    let greeting = way("greeting").unwrap_or("220 post.test ESMTP");
    write.write_all(format!("{greeting}\r\n").as_bytes()).await.ok()?;
    loop {
        let line = lines.next_line().await.ok()??;
        let usual = match line.split(' ').next()? {
            "EHLO" => "250-post.test\r\n250 8BITMIME",
            "DATA" => "354 go on",
            "QUIT" => "221 bye",
            _ => "250 2.1.0 fine",
        };
        let reply = way(&line).unwrap_or(usual);
        write.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
        if line == "DATA" && reply.starts_with("354") {
            let mut mail = Vec::new();
            loop {
                let line = lines.next_line().await.ok()??;
                if line == "." {
                    break;
                }
                mail.push(line);
            }
            comes.send(mail.join("\n")).ok()?;
            let reply = way("end").unwrap_or("250 2.0.0 queued as 42");
            write.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
        }
    }
}

fn a_mail() -> Mail {
    Mail {
        to: "ops@example.com".to_owned(),
        subject: "Down: API – größer".to_owned(),
        text: "It is down.\n.\nSee there.".to_owned(),
        html: "<p>It is down.</p>".to_owned(),
        id: "inc-1-error".to_owned(),
        thread: "inc-1".to_owned(),
        list: ListLinks::None,
    }
}

impl Post {
    async fn send(&self) -> Result<VendorResponse, SendError> {
        self.mailer.send(&a_mail(), NOW, PATIENCE).await
    }
}

#[tokio::test]
async fn email_has_its_automatic_headers() {
    let mut post = a_post(MailTls::Off, &[]).await;
    let answer = post.send().await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (250, "2.0.0 queued as 42"));
    let mail = post.mails.recv().await.unwrap();
    let (head, body) = mail.split_once("\n\n").unwrap();
    for line in [
        "From: Aloft <aloft@example.com>",
        "To: ops@example.com",
        "Date: Sat, 21 Nov 2026 00:00:00 +0000",
        "Message-ID: <inc-1-error@example.com>",
        "In-Reply-To: <inc-1@example.com>",
        "References: <inc-1@example.com>",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
    ] {
        assert!(head.lines().any(|given| given == line), "no `{line}` in\n{head}");
    }
    assert!(head.contains("Content-Type: multipart/alternative;"), "{head}");
    let (text, html) = (body.find("text/plain").unwrap(), body.find("text/html").unwrap());
    assert!(text < html, "the best form comes last");
}

#[tokio::test]
async fn connection_is_reused() {
    let post = a_post(MailTls::Off, &[]).await;
    for _ in 0..3 {
        assert_eq!(post.send().await.unwrap().status, 250);
    }
    assert_eq!(post.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn only_replies_to_a_message_are_responses() {
    let cases: [(Replies, &str); 5] = [
        (&[("RCPT", "550 5.1.1 no such mailbox")], "550 5.1.1 no such mailbox"),
        (&[("MAIL", "451 4.7.1 greylisted")], "451 4.7.1 greylisted"),
        (&[("end", "552 5.3.4 too big")], "552 5.3.4 too big"),
        (
            &[("greeting", "554 go away")],
            "the mail server cannot be reached: permanent error (554): go away",
        ),
        (&[("greeting", "HTTP/1.1 400 Bad Request")], "the mail server cannot be reached: "),
    ];
    for (replies, expected) in cases {
        let post = a_post(MailTls::Off, replies).await;
        let outcome = match post.send().await {
            Ok(answer) => format!("{} {}", answer.status, answer.body),
            Err(SendError::NoResponse(why)) => why,
            Err(other) => panic!("{other:?}"),
        };
        assert!(outcome.starts_with(expected), "{outcome}");
    }
}

#[tokio::test]
async fn without_starttls_nothing_is_sent() {
    let mut post = a_post(MailTls::Starttls, &[]).await;
    let why = "the mail server does not support STARTTLS, which is required";
    assert_eq!(post.send().await, Err(SendError::NoResponse(why.to_owned())));
    assert!(post.mails.try_recv().is_err());
}

#[tokio::test]
async fn stalled_connection_is_abandoned_and_not_reused() {
    // The reply to DATA never ends.
    let post = a_post(MailTls::Off, &[("end", "250-wait")]).await;
    for connections in 1..=2 {
        // Long enough for a busy machine to get to DATA.
        let sent = post.mailer.send(&a_mail(), NOW, Duration::from_secs(2)).await;
        let why = "timed out after 2000 ms while talking to the mail server";
        assert_eq!(sent, Err(SendError::NoResponse(why.to_owned())));
        assert_eq!(post.connections.load(Ordering::Relaxed), connections);
    }
}

#[tokio::test]
async fn invalid_address_fails_immediately() {
    let post = a_post(MailTls::Off, &[]).await;
    let mail = Mail { to: "nobody".to_owned(), ..a_mail() };
    let sent = post.mailer.send(&mail, NOW, PATIENCE).await;
    assert!(matches!(sent, Err(SendError::Impossible(_))), "{sent:?}");
    assert_eq!(post.connections.load(Ordering::Relaxed), 0);
}
