//! Load generator of `cargo xtask bench pages`: sends the same GET over persistent connections as
//! fast as responses arrive. It only checks their status and length.
//! `bench-visits ADDRESS PATH ENCODING CONNECTIONS SECONDS` prints one line of JSON: visits,
//! seconds, bytes of a body, and the 50th and 99th percentile of the latency.
#![expect(clippy::print_stdout, reason = "the bench reads the figures from stdout")]

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Size of the read buffer for a response or a part of it.
const ROOM: usize = 256 << 10;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, path, encoding, connections, seconds] = words.as_slice() else {
        bail!("usage: bench-visits ADDRESS PATH ENCODING CONNECTIONS SECONDS");
    };
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {address}\r\naccept-encoding: {encoding}\r\n\
         accept-language: en\r\n\r\n"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let window = Duration::from_secs(seconds.parse()?);
    runtime.block_on(load(address, &request, connections.parse()?, window))
}

async fn load(address: &str, request: &str, connections: usize, window: Duration) -> Result<()> {
    let begun = Instant::now();
    let visitors = (0..connections).map(|_| visit(address, request, begun + window));
    let seen = futures_util::future::try_join_all(visitors).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let bytes = seen.iter().map(|(_, bytes)| *bytes).max().unwrap_or_default();
    let mut latencies: Vec<u32> = seen.into_iter().flat_map(|(latencies, _)| latencies).collect();
    latencies.sort_unstable();
    ensure!(!latencies.is_empty(), "no visit completed");
    let below = |hundredths: usize| latencies[(latencies.len() - 1) * hundredths / 100];
    println!(
        "{}",
        json!({
            "visits": latencies.len(), "seconds": seconds, "bytes": bytes,
            "p50_us": below(50), "p99_us": below(99),
        })
    );
    Ok(())
}

/// Makes visits in sequence until `end`. Returns the latencies in microseconds and the length of a
/// body.
async fn visit(address: &str, request: &str, end: Instant) -> Result<(Vec<u32>, usize)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut room, mut latencies, mut bytes) = (vec![0; ROOM], Vec::new(), 0);
    let mut begun = Instant::now();
    while begun < end {
        stream.write_all(request.as_bytes()).await?;
        bytes = read_response(&mut stream, &mut room).await?;
        let now = Instant::now();
        latencies.push((now - begun).as_micros() as u32);
        begun = now;
    }
    Ok((latencies, bytes))
}

/// Reads one response. Returns the length of its body.
async fn read_response(stream: &mut TcpStream, room: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    let head = loop {
        let read = stream.read(&mut room[filled..]).await?;
        ensure!(read > 0, "the server closed the connection");
        filled += read;
        if let Some(end) = room[..filled].windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let text = std::str::from_utf8(&room[..head])?;
    ensure!(text.starts_with("HTTP/1.1 200 "), "{text}");
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.context("the response has no content-length")?.parse()?;
    let mut rest = (head + length).saturating_sub(filled);
    while rest > 0 {
        let part = rest.min(room.len());
        let read = stream.read(&mut room[..part]).await?;
        ensure!(read > 0, "the server closed the connection during a response");
        rest -= read;
    }
    Ok(length)
}
