//! A small HTTP client for the bench: one persistent connection, JSON calls, and the metrics of the
//! service.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Time limit for a call. An overloaded service responds late.
const ANSWERED_WITHIN: Duration = Duration::from_mins(5);

/// A persistent connection to a service, with a key.
pub(super) struct Api {
    stream: BufReader<TcpStream>,
    key: String,
}

/// Samples of `/metrics` by name with labels.
pub(super) struct Metrics(BTreeMap<String, f64>);

/// Connects to the server at `address`.
pub(super) fn connect(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWERED_WITHIN))?;
    Ok(stream)
}

/// Returns whether the service responds to `/healthz`.
pub(super) fn healthy(address: SocketAddr) -> bool {
    connect(address)
        .and_then(|stream| exchange(&mut BufReader::new(stream), "GET", "/healthz", "", ""))
        .is_ok()
}

/// Reads the metrics of the service.
pub(super) fn metrics(address: SocketAddr) -> Result<Metrics> {
    let text = exchange(&mut BufReader::new(connect(address)?), "GET", "/metrics", "", "")?;
    let samples = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.rsplit_once(' '))
        .filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
        .collect();
    Ok(Metrics(samples))
}

impl Api {
    pub(super) fn new(address: SocketAddr, key: &str) -> Result<Self> {
        Ok(Self { stream: BufReader::new(connect(address)?), key: key.to_owned() })
    }

    /// Calls a method of the monitor service.
    pub(super) fn call(&mut self, method: &str, request: &Value) -> Result<Value> {
        self.call_of("monitor.v1.MonitorService", method, request)
    }

    /// Calls a method of a service.
    pub(super) fn call_of(
        &mut self,
        service: &str,
        method: &str,
        request: &Value,
    ) -> Result<Value> {
        let path = format!("/rpc/{service}/{method}");
        let text = exchange(&mut self.stream, "POST", &path, &self.key, &request.to_string())?;
        Ok(serde_json::from_str(&text)?)
    }
}

impl Metrics {
    /// Returns the sum of all samples with this name, for any labels.
    pub(super) fn sum(&self, name: &str) -> f64 {
        self.0.iter().filter(|(key, _)| base(key) == name).map(|(_, value)| value).sum()
    }

    /// Returns the sum of all samples of `name` whose labels contain `label`.
    pub(super) fn sum_where(&self, name: &str, label: &str) -> f64 {
        self.0
            .iter()
            .filter(|(key, _)| base(key) == name && key.contains(label))
            .map(|(_, value)| value)
            .sum()
    }

    /// Returns a quantile of a histogram's observations since `before`, by linear interpolation in
    /// its bucket.
    pub(super) fn quantile(&self, before: &Self, name: &str, share: f64) -> Option<f64> {
        let mut buckets: Vec<(f64, f64)> = self
            .0
            .iter()
            .filter(|(key, _)| base(key) == format!("{name}_bucket"))
            .filter_map(|(key, count)| {
                let bound = key.split("le=\"").nth(1)?.split('"').next()?;
                let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().ok()? };
                Some((bound, count - before.0.get(key).copied().unwrap_or(0.0)))
            })
            .collect();
        buckets.sort_by(|left, right| left.0.total_cmp(&right.0));
        let wanted = buckets.last()?.1 * share;
        let mut below = (0.0, 0.0);
        for bucket in buckets {
            if bucket.1 >= wanted && bucket.1 > below.1 {
                let within = (wanted - below.1) / (bucket.1 - below.1);
                return Some(if bucket.0.is_finite() {
                    below.0 + (bucket.0 - below.0) * within
                } else {
                    below.0
                });
            }
            below = bucket;
        }
        None
    }
}

fn base(key: &str) -> &str {
    key.split('{').next().unwrap_or(key)
}

fn exchange(
    stream: &mut BufReader<TcpStream>,
    method: &str,
    path: &str,
    key: &str,
    body: &str,
) -> Result<String> {
    let key = if key.is_empty() { String::new() } else { format!("x-service-key: {key}\r\n") };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: bench\r\n{key}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.get_mut().write_all(request.as_bytes())?;
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).context("invalid status line")?.to_owned();
    let mut length = 0;
    let mut chunked = false;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let body = if chunked { read_chunks(stream)? } else { read_exactly(stream, length)? };
    let body = String::from_utf8(body)?;
    if status != "200" {
        bail!("{method} {path} returned {status}: {body}");
    }
    Ok(body)
}

fn read_exactly(stream: &mut BufReader<TcpStream>, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_chunks(stream: &mut BufReader<TcpStream>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut size = String::new();
        stream.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16)?;
        let mut chunk = read_exactly(stream, size + 2)?;
        if size == 0 {
            return Ok(bytes);
        }
        chunk.truncate(size);
        bytes.append(&mut chunk);
    }
}
