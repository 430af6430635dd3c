//! Measures the minimum cost of a check on this machine: a new connection, a request and its
//! response, in a thread that does nothing else. Nearly all of it is the kernel's. Machines of the
//! same type differ by up to a half, so this figure makes others comparable between them.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::Figure;
use super::process::Target;
use super::sizes::Sizes;

const REQUEST: &[u8] =
    b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: */*\r\nconnection: close\r\n\r\n";
/// Interval in which the service starts checks together.
const BEAT: Duration = Duration::from_millis(100);
const A_BEAT: usize = 10;

/// Measures the CPU time of a connection, for connections in sequence, and for ten at once every
/// tenth of a second.
pub(super) fn baseline(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let port = target.plain_port;
    let busy = measure(sizes.window, || together(port, 1))?;
    let hundred = measure(sizes.window, || {
        let next = Instant::now() + BEAT;
        together(port, A_BEAT)?;
        thread::sleep(next.saturating_duration_since(Instant::now()));
        Ok(())
    })?;
    let figure = |of: &str, used: Duration, connections: usize| Figure {
        name: format!("{of}: CPU per connection"),
        monitors: None,
        value: used.as_secs_f64() * 1e6 / connections as f64,
        unit: "µs",
    };
    Ok(vec![
        figure("floor", busy.0, busy.1),
        figure("floor at 100/s", hundred.0, hundred.1 * A_BEAT),
    ])
}

/// Repeats an operation. Returns the CPU time of this thread and the number of repetitions.
fn measure(window: Duration, mut once: impl FnMut() -> Result<()>) -> Result<(Duration, usize)> {
    let (begun, before, mut times) = (Instant::now(), used()?, 0);
    while begun.elapsed() < window {
        once()?;
        times += 1;
    }
    Ok((used()?.saturating_sub(before), times))
}

/// Opens this number of connections at once, each with a request and its complete response.
fn together(port: u16, count: usize) -> Result<()> {
    let asked: Vec<_> = (0..count)
        .map(|_| -> Result<TcpStream> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.write_all(REQUEST)?;
            Ok(stream)
        })
        .collect::<Result<_>>()?;
    let mut answer = [0; 4096];
    for mut stream in asked {
        while stream.read(&mut answer)? > 0 {}
    }
    Ok(())
}

/// Returns the CPU time of this thread from the scheduler.
fn used() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = stat.split(' ').next().context("the scheduler reports no CPU time")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}
