//! Load generator of `cargo xtask bench rpc`: sends the same JSON call over persistent connections
//! as fast as responses arrive. `bench-load ADDRESS KEY METHOD BODY CONNECTIONS SECONDS FORMS`
//! prints one line of JSON: calls, seconds, and the 50th and 99th percentile of the latency. With
//! more than one form, it alternates between that many bodies with equal meaning and different
//! bytes.
#![expect(clippy::print_stdout, reason = "the bench reads the figures from stdout")]

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::Instant;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, key, method, body, connections, seconds, forms] = words.as_slice() else {
        bail!("usage: bench-load ADDRESS KEY METHOD BODY CONNECTIONS SECONDS FORMS");
    };
    let request = |form: usize| {
        // JSON may end with spaces, so each form has one more.
        let length = body.len() + form;
        format!(
            "POST /rpc/monitor.v1.MonitorService/{method} HTTP/1.1\r\nhost: bench\r\n\
             x-service-key: {key}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body:<length$}"
        )
    };
    let requests: Vec<String> = (0..forms.parse()?).map(request).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let window = Duration::from_secs(seconds.parse()?);
    runtime.block_on(load(address, &requests, connections.parse()?, window))
}

async fn load(
    address: &str,
    requests: &[String],
    connections: usize,
    window: Duration,
) -> Result<()> {
    let begun = Instant::now();
    let callers = (0..connections).map(|first| {
        // Connections start with different forms, so that they do not send the same one at once.
        let turns = requests.iter().cycle().skip(first * requests.len() / connections);
        call(address, turns, begun + window)
    });
    let mut latencies = futures_util::future::try_join_all(callers).await?.concat();
    let seconds = begun.elapsed().as_secs_f64();
    latencies.sort_unstable();
    ensure!(!latencies.is_empty(), "no call completed");
    let below = |hundredths: usize| latencies[(latencies.len() - 1) * hundredths / 100];
    println!(
        "{}",
        json!({ "calls": latencies.len(), "seconds": seconds, "p50_us": below(50), "p99_us": below(99) })
    );
    Ok(())
}

/// Makes calls in sequence until `end`. Returns the latencies in microseconds.
async fn call(
    address: &str,
    mut requests: impl Iterator<Item = &String>,
    end: Instant,
) -> Result<Vec<u64>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let mut latencies = Vec::new();
    while let Some(request) = requests.next().filter(|_| Instant::now() < end) {
        let begun = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        read_response(&mut stream).await?;
        latencies.push(begun.elapsed().as_micros() as u64);
    }
    Ok(latencies)
}

async fn read_response(stream: &mut BufReader<TcpStream>) -> Result<()> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let status = line.trim_end().to_owned();
    let mut length = None;
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = Some(value.trim().parse()?);
        }
    }
    let body = match length {
        Some(length) => read_exactly(stream, length).await?,
        None => read_chunks(stream).await?,
    };
    ensure!(status.contains(" 200 "), "{status}: {}", String::from_utf8_lossy(&body));
    Ok(())
}

async fn read_exactly(stream: &mut BufReader<TcpStream>, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Reads a chunked body. The last chunk is empty.
async fn read_chunks(stream: &mut BufReader<TcpStream>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut line = String::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let size = usize::from_str_radix(line.trim(), 16).context("invalid chunk size")?;
        let chunk = read_exactly(stream, size + "\r\n".len()).await?;
        if size == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}
