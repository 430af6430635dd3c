//! The mail server accepts only encrypted, authenticated email, and parses it.

use lettre::message::{MultiPart, header::ContentType};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use testkit::mail::{MailServer, PASSWORD, RefusedAt, USER};

type Transport = AsyncSmtpTransport<Tokio1Executor>;

fn message() -> Message {
    Message::builder()
        .from("Aloft <aloft@example.com>".parse().unwrap())
        .to("ops@example.com".parse().unwrap())
        .subject("Down: Ünïcödé 漢字 👩‍👩‍👧‍👦")
        .header(ContentType::TEXT_PLAIN)
        .references("<inc_1@example.com>".to_owned())
        .multipart(MultiPart::alternative_plain_html(
            "plain ☂\n.\nend".to_owned(),
            "<p>☂</p>".to_owned(),
        ))
        .unwrap()
}

fn transport(server: &MailServer, password: Option<&str>, encrypted: bool) -> Transport {
    let mut builder = Transport::builder_dangerous("localhost").port(server.port());
    if encrypted {
        let authority = Certificate::from_pem(server.authority().pem().as_bytes()).unwrap();
        let parameters = TlsParameters::builder("localhost".to_owned());
        let parameters = parameters.add_root_certificate(authority).build_rustls().unwrap();
        builder = builder.tls(Tls::Required(parameters));
    }
    if let Some(password) = password {
        builder = builder.credentials(Credentials::new(USER.to_owned(), password.to_owned()));
    }
    builder.build()
}

#[tokio::test]
async fn encrypted_authenticated_mail_reads_back_equal() {
    let server = MailServer::start().await;
    transport(&server, Some(PASSWORD), true).send(message()).await.unwrap();
    let mail = server.takes(1).await.remove(0);
    assert!(mail.secure);
    assert_eq!((mail.user.as_str(), mail.from.as_str()), (USER, "aloft@example.com"));
    assert_eq!(mail.to, ["ops@example.com"]);
    assert_eq!(mail.subject, "Down: Ünïcödé 漢字 👩‍👩‍👧‍👦");
    assert_eq!(mail.header("references"), Some("<inc_1@example.com>"));
    assert_eq!((mail.text.trim_end(), mail.html.trim_end()), ("plain ☂\n.\nend", "<p>☂</p>"));
    assert!(mail.raw.contains("\r\nReferences: <inc_1@example.com>\r\n"), "{}", mail.raw);
}

#[tokio::test]
async fn unencrypted_or_unauthenticated_mail_is_rejected() {
    let server = MailServer::start().await;
    for (password, encrypted, expected) in
        [(None, true, "530"), (None, false, "530"), (Some("wrong"), true, "535")]
    {
        let refused = transport(&server, password, encrypted).send(message()).await.unwrap_err();
        let code = refused.status().map(|code| code.to_string());
        assert_eq!(code.as_deref(), Some(expected), "{refused:?}");
    }
    let clear = transport(&server, Some(PASSWORD), false).send(message()).await;
    assert!(clear.is_err(), "the password was sent in plain text");
    assert_eq!(server.taken(), []);
}

#[tokio::test]
async fn rejections_stop_after_the_given_count() {
    let server = MailServer::start().await;
    let transport = transport(&server, Some(PASSWORD), true);
    for (at, code) in
        [(RefusedAt::Auth, 454), (RefusedAt::Receiver, 550), (RefusedAt::Message, 451)]
    {
        server.refuse(at, 1, code, "not now").await;
        let refused = transport.send(message()).await.unwrap_err();
        assert_eq!(refused.status().map(|code| code.to_string()), Some(code.to_string()));
    }
    server.wait_for_rejected(3).await;
    transport.send(message()).await.unwrap();
    assert_eq!(server.takes(1).await.len(), 1);
}
