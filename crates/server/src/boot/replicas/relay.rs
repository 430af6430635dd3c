//! Copies the bytes of a connection between a client and the owner of the database.

use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::FusedFuture as _;
use rules::limits::RESPONSE_READ_WITHIN;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, copy, split};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::OwnerAddress;
use crate::boot::write_timeout::WriteTimeout;

/// Time that a client has to close its side after the owner closed its own.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);
/// Time that connections to an owner have to end after another one took over. An owner that stops in
/// order has ended them before, and one that hangs answers nothing more.
const END_WITHIN: Duration = Duration::from_secs(1);

/// Copies all bytes in both directions. Ends when the owner closes the connection, however its client
/// behaves, when the client reads nothing, or when another server owns the database.
pub(super) async fn relay(
    client: TcpStream,
    owner: TcpStream,
    mut owners: watch::Receiver<OwnerAddress>,
) {
    if let Err(error) = client.set_nodelay(true) {
        tracing::debug!(%error, "responses of a connection may be delayed: {error}");
    }
    let replaced = async {
        // An error means that this server takes over.
        let _ = owners.changed().await;
        tokio::time::sleep(END_WITHIN).await;
    };
    let client = WriteTimeout::new(client, RESPONSE_READ_WITHIN);
    tokio::select! {
        () = copy_both(client, owner) => {}
        () = replaced => {}
    }
}

async fn copy_both(
    client: impl AsyncRead + AsyncWrite + Unpin,
    owner: impl AsyncRead + AsyncWrite + Unpin,
) {
    let ((mut from_client, mut to_client), (mut from_owner, mut to_owner)) =
        (split(client), split(owner));
    let requests = async {
        let copied = copy(&mut from_client, &mut to_owner).await;
        log_broken(copied);
        // The owner learns that the client sends nothing more. It may be gone.
        let _ = to_owner.shutdown().await;
    };
    let responses = async {
        let copied = copy(&mut from_owner, &mut to_client).await;
        log_broken(copied);
        // The client may be gone.
        let _ = to_client.shutdown().await;
    };
    let mut requests = pin!(requests.fuse());
    let client_ends = async {
        requests.as_mut().await;
        // The response may still come.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = responses => {}
        () = client_ends => {}
    }
    if !requests.is_terminated() {
        // The rest of a request is not needed, but unread bytes would reset the connection before the
        // client has read its response.
        let _ = timeout(CLOSE_WITHIN, requests).await;
    }
}

fn log_broken(copied: std::io::Result<u64>) {
    if let Err(error) = copied {
        tracing::debug!(%error, "a connection that was passed on broke: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, duplex};

    use super::*;

    const PATIENCE: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn closed_owner_ends_a_silent_client() {
        let ((mut client, near), (far, owner)) = (duplex(64), duplex(64));
        let relay = tokio::spawn(copy_both(near, far));
        drop(owner);
        let mut nothing = Vec::new();
        client.read_to_end(&mut nothing).await.unwrap();
        assert!(nothing.is_empty());
        // The client keeps its side open.
        timeout(PATIENCE, relay).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn half_closed_client_gets_its_response() {
        let ((mut client, near), (far, mut owner)) = (duplex(64), duplex(64));
        let relay = tokio::spawn(copy_both(near, far));
        client.write_all(b"question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut asked = Vec::new();
        owner.read_to_end(&mut asked).await.unwrap();
        assert_eq!(asked, b"question");
        owner.write_all(b"answer").await.unwrap();
        drop(owner);
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"answer");
        timeout(PATIENCE, relay).await.unwrap().unwrap();
    }
}
