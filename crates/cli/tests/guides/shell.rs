//! A shell that goes from block to block of a page, as a reader's terminal does, and terminals beside it
//! for what goes on until it is stopped. What is run there belongs to `reader`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);

/// A shell that ends with the first command that fails.
pub(crate) struct Shell {
    child: Child,
    stdin: ChildStdin,
    done: Receiver<String>,
    folder: PathBuf,
    blocks: u32,
}

/// Something that goes on beside the shell; it ends when this is dropped.
pub(crate) struct Terminal {
    group: Pid,
    ended: Arc<AtomicBool>,
    said: Receiver<String>,
}

impl Shell {
    /// `bash` as this command has it, with scripts and what they print in this folder.
    pub(crate) fn start(mut bash: Command, folder: PathBuf) -> Self {
        bash.args(["--noprofile", "--norc"]).process_group(0);
        let mut child = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "set -e").unwrap();
        let done = lines(child.stdout.take().unwrap(), || {});
        Self { child, stdin, done, folder, blocks: 0 }
    }

    /// Runs a text to its end; what it printed, as an error where a command failed.
    pub(crate) fn run(&mut self, text: &str) -> Result<String, String> {
        self.blocks += 1;
        let script = self.folder.join(format!("block-{}.sh", self.blocks));
        let printed = script.with_extension("out");
        fs::write(&script, text).unwrap();
        let (script, out) = (script.display(), printed.display());
        // A shell that ended before takes nothing any more, which the next line finds.
        let _ = writeln!(self.stdin, ". '{script}' </dev/null >'{out}' 2>&1\necho done");
        let done = self.done.recv_timeout(PATIENCE);
        let printed = String::from_utf8_lossy(&fs::read(printed).unwrap_or_default()).into_owned();
        if done.is_ok() { Ok(printed) } else { Err(printed) }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Of a shell that has ended there is nothing to end.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Terminal {
    /// Runs a text in a `bash` as this command has it.
    pub(crate) fn open(mut bash: Command, text: &str) -> Self {
        bash.args(["--noprofile", "--norc", "-e", "-c", &format!("exec 2>&1\n{text}")]);
        bash.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = bash.spawn().unwrap();
        let (group, ended) = (Pid::from_child(&child), Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&ended);
        let said = lines(child.stdout.take().unwrap(), move || {
            // Whoever waits for its end asks for the process, which is gone only now.
            over.store(true, Ordering::Relaxed);
            let _ = child.wait();
        });
        Self { group, ended, said }
    }

    /// The process, which others may send signals to.
    pub(crate) fn pid(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// What it says next.
    pub(crate) fn line(&self) -> Option<String> {
        self.said.recv_timeout(PATIENCE).ok()
    }

    /// What it has said and nobody heard.
    pub(crate) fn rest(&self) -> String {
        self.said.try_iter().map(|line| line + "\n").collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::Relaxed) {
            // It may end at this moment.
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }
}

/// What is read, line by line, as it comes; then its end.
fn lines(
    stream: impl Read + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        // Read on when nobody listens: a full pipe would stop the process.
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
        end();
    });
    lines
}
