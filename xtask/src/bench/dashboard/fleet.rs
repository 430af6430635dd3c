//! A service with a workspace of many monitors and a signed-in person, and open pages of it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::super::api::connect;
use super::super::observe::NO_LIMIT;
use super::super::process::{RunningService, Target};
use super::super::sizes::Sizes;
use crate::shell;

const WORKSPACE: &str = "/w/bench";

/// A service with a workspace of many monitors.
pub(super) struct Fleet {
    service: RunningService,
    /// Session, as `name=value`.
    pub(super) cookie: String,
    /// ID of the monitor with the most results.
    pub(super) monitor: String,
    _folder: tempfile::TempDir,
}

/// An open page: it listens for events, and loads home after each. Receives when it was loaded.
pub(super) struct OpenPage(Receiver<Instant>);

impl Fleet {
    pub(super) fn open(target: &Target, sizes: &Sizes) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let [url, slow_url] =
            [target.plain_port, target.slow_port].map(|port| format!("http://127.0.0.1:{port}/"));
        let (data, monitors) = (folder.path().display().to_string(), sizes.monitors.to_string());
        let example =
            ["run", "--profile", "dist", "--quiet", "--package", "aloft-store", "--example"];
        let arguments = ["fleet_past", "--", &data, &monitors, &url, &slow_url];
        let printed = shell::output(&shell::cargo(), &[&example[..], &arguments].concat())?;
        let words = printed.trim().split_once(' ').context("the example printed no session")?;
        let (cookie, monitor) = (format!("aloft_session={}", words.0), words.1.to_owned());
        let service = RunningService::start(folder.path(), &NO_LIMIT)?;
        Ok(Self { service, cookie, monitor, _folder: folder })
    }

    /// Returns the median time of a screen in milliseconds, for a browser that asks again.
    pub(super) fn median(&self, path: &str) -> Result<f64> {
        self.time(path)?;
        let mut times =
            (0..super::ROUNDS).map(|_| self.time(path)).collect::<Result<Vec<f64>>>()?;
        Ok(super::middle(&mut times))
    }

    /// Returns the time of a screen in milliseconds.
    pub(super) fn time(&self, path: &str) -> Result<f64> {
        let begun = Instant::now();
        load(self.service.address, &self.cookie, path)?;
        Ok(begun.elapsed().as_secs_f64() * 1_000.0)
    }

    /// Pauses the monitor, or resumes it in every other round.
    pub(super) fn change(&self, round: usize) -> Result<()> {
        let action = if round.is_multiple_of(2) { "pause" } else { "resume" };
        let body = format!("action={action}&monitor={}", self.monitor);
        let request = format!(
            "POST {WORKSPACE}/monitors/bulk HTTP/1.1\r\nhost: bench\r\ncookie: {}\r\n\
             sec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.cookie,
            body.len()
        );
        let answer = exchange(self.service.address, &request)?;
        ensure!(answer.starts_with("HTTP/1.1 303 "), "the change returned {answer}");
        Ok(())
    }

    pub(super) fn open_page(&self) -> Result<OpenPage> {
        let address = self.service.address;
        let mut stream = BufReader::new(connect(address)?);
        let request = format!(
            "GET {WORKSPACE}/events HTTP/1.1\r\nhost: bench\r\ncookie: {}\r\n\r\n",
            self.cookie
        );
        stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        stream.read_line(&mut line)?;
        ensure!(line.starts_with("HTTP/1.1 200 "), "the stream returned {line}");
        let (sender, events) = mpsc::channel();
        let cookie = self.cookie.clone();
        std::thread::spawn(move || {
            let lines = stream.lines();
            follow(lines.map_while(Result::ok), &sender, address, &cookie)
        });
        Ok(OpenPage(events))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{WORKSPACE}{path}", self.service.address)
    }

    pub(super) fn cpu(&self) -> Result<Duration> {
        Ok(self.service.usage()?.cpu)
    }

    pub(super) fn stop(self) -> Result<()> {
        self.service.stop()
    }
}

impl OpenPage {
    /// Returns the time after this instant at which the page has loaded home again.
    pub(super) fn after(&self, instant: Instant, within: Duration) -> Option<Instant> {
        loop {
            let at = self.0.recv_timeout(within).ok()?;
            if at >= instant {
                return Some(at);
            }
        }
    }
}

/// Follows events until the stream or the bench ends.
fn follow(
    lines: impl Iterator<Item = String>,
    events: &Sender<Instant>,
    address: SocketAddr,
    cookie: &str,
) -> Option<()> {
    for line in lines.filter(|line| line == "event: changed") {
        drop(line);
        load(address, cookie, "").ok()?;
        events.send(Instant::now()).ok()?;
    }
    None
}

fn load(address: SocketAddr, cookie: &str, path: &str) -> Result<()> {
    let request = format!(
        "GET {WORKSPACE}{path} HTTP/1.1\r\nhost: bench\r\naccept: text/html\r\ncookie: {cookie}\r\n\
         accept-encoding: gzip\r\nconnection: close\r\n\r\n"
    );
    let answer = exchange(address, &request)?;
    ensure!(answer.starts_with("HTTP/1.1 200 "), "{path} returned {answer}");
    Ok(())
}

/// Sends a request and returns the first line of the response, after all of it arrived.
fn exchange(address: SocketAddr, request: &str) -> Result<String> {
    let mut stream = connect(address)?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let first = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(first).into_owned())
}
