//! The processes of a bench: the target, and a service with its own folder. Dropping a value kills
//! its process. CPU time and memory come from `/proc`.

use std::io::{BufRead, BufReader, Lines};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::api::healthy;

/// Time limit for the start of a process.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running target.
pub(super) struct Target {
    child: Child,
    pub(super) plain_port: u16,
    pub(super) tls_port: u16,
    pub(super) slow_port: u16,
    pub(super) dns_port: u16,
    pub(super) certificate: PathBuf,
    _folder: tempfile::TempDir,
    /// Kept open, because writing to a closed pipe fails.
    _output: Lines<BufReader<ChildStdout>>,
}

/// A service with an empty or used folder.
pub(super) struct RunningService {
    child: Child,
    pub(super) address: SocketAddr,
    /// Time from the start of the process to its first response.
    pub(super) first_answer: Duration,
}

/// A probe in another place.
pub(super) struct RunningProbe(Child);

/// A PostgreSQL server with an empty database. It syncs its commits.
pub(super) struct Postgres {
    child: Child,
    pub(super) address: String,
    /// Kept open, as above.
    _output: BufReader<ChildStdout>,
}

/// CPU time and memory of a process so far.
#[derive(Clone, Copy)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    pub(super) rss_bytes: u64,
}

impl Target {
    pub(super) fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = Command::new("target/dist/bench-target")
            .stdout(Stdio::piped())
            .spawn()
            .context("starting the target")?;
        let mut lines =
            BufReader::new(child.stdout.take().context("the target has no output")?).lines();
        let ports = lines.next().context("the target printed nothing")??;
        let ports: Vec<u16> = ports.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [plain_port, tls_port, slow_port, dns_port] = ports[..] else {
            bail!("the target printed {} ports, expected four", ports.len());
        };
        let mut certificate = String::new();
        for line in lines.by_ref() {
            let line = line?;
            certificate.push_str(&line);
            certificate.push('\n');
            if line.starts_with("-----END") {
                break;
            }
        }
        let path = folder.path().join("target.pem");
        std::fs::write(&path, certificate)?;
        Ok(Self {
            child,
            plain_port,
            tls_port,
            slow_port,
            dns_port,
            certificate: path,
            _folder: folder,
            _output: lines,
        })
    }
}

impl Postgres {
    pub(super) fn start() -> Result<Self> {
        let mut child = Command::new("target/dist/bench-postgres")
            .env("ALOFT_TEST_FSYNC", "on")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting PostgreSQL")?;
        let mut output = BufReader::new(child.stdout.take().context("it has no output")?);
        let mut address = String::new();
        output.read_line(&mut address)?;
        let address = address.trim().to_owned();
        anyhow::ensure!(!address.is_empty(), "PostgreSQL did not start: is it installed?");
        Ok(Self { child, address, _output: output })
    }
}

impl RunningService {
    pub(super) fn start(data: &Path, more: &[&str]) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let begun = Instant::now();
        let child = aloft()
            .args([
                "serve",
                "--allow-private-networks",
                "--log-level",
                "warn",
                "--listen",
                &address.to_string(),
            ])
            .arg("--data")
            .arg(data)
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .context("starting the service")?;
        let mut service = Self { child, address, first_answer: Duration::ZERO };
        while begun.elapsed() < PATIENCE {
            if healthy(address) {
                service.first_answer = begun.elapsed();
                return Ok(service);
            }
            if let Some(status) = service.child.try_wait()? {
                bail!("the service exited with {status} before it responded");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        bail!("the service did not respond within {PATIENCE:?}")
    }

    pub(super) fn usage(&self) -> Result<Usage> {
        usage(self.child.id())
    }

    /// Asks the process to stop and waits until it exits.
    pub(super) fn stop(mut self) -> Result<()> {
        stop(&mut self.child)
    }
}

impl RunningProbe {
    /// Starts a probe that connects to a service with this token.
    pub(super) fn start(service: &RunningService, token: &str, data: &Path) -> Result<Self> {
        let server = format!("http://{}", service.address);
        let words = ["probe", "--server", &server, "--token", token, "--allow-private-networks"];
        let child = aloft()
            .args(words)
            .arg("--data")
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("starting the probe")?;
        Ok(Self(child))
    }

    pub(super) fn usage(&self) -> Result<Usage> {
        usage(self.0.id())
    }

    /// Asks the process to stop and waits until it exits.
    pub(super) fn stop(mut self) -> Result<()> {
        stop(&mut self.0)
    }
}

fn stop(child: &mut Child) -> Result<()> {
    Command::new("kill").arg(child.id().to_string()).status()?;
    child.wait()?;
    Ok(())
}

impl Drop for Target {
    fn drop(&mut self) {
        // Both fail only if the process has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for RunningProbe {
    fn drop(&mut self) {
        // Both fail only if the process has exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It stops when its stdin closes, and removes its files.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the binary of the `dist` profile.
pub(super) fn aloft() -> Command {
    Command::new("target/dist/aloft")
}

/// Returns the number of files that this process, and each that it starts, may open.
pub(super) fn open_files() -> Result<Option<u64>> {
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    // The first number is the soft limit, which the service raises to the second.
    let most = line.and_then(|line| line.split_whitespace().nth(1));
    let most = most.context("the kernel reports no limit of open files")?;
    Ok(if most == "unlimited" { None } else { Some(most.parse()?) })
}

fn usage(pid: u32) -> Result<Usage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after_name = stat.rsplit_once(')').context("no process name in stat")?.1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    // Linux counts the CPU time of processes in hundredths of a second.
    let cpu = Duration::from_millis(ticks * 10);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let rss = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next())
        .context("no VmRSS in status")?;
    Ok(Usage { cpu, rss_bytes: rss.parse::<u64>()? * 1_024 })
}
