//! A shell that runs the blocks of a page in sequence, and terminals for programs that run until
//! they are stopped. Leaves the choice of blocks to `reader`.

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

/// Timeout that is longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);

/// A shell that exits at the first command that fails.
pub(crate) struct Shell {
    child: Child,
    stdin: ChildStdin,
    done: Receiver<String>,
    folder: PathBuf,
    blocks: u32,
}

/// A program that runs next to the shell. Dropping it kills the program.
pub(crate) struct Terminal {
    group: Pid,
    ended: Arc<AtomicBool>,
    output_lines: Receiver<String>,
}

impl Shell {
    /// Starts this `bash` command, with scripts and their output in `folder`.
    pub(crate) fn start(mut bash: Command, folder: PathBuf) -> Self {
        bash.args(["--noprofile", "--norc"]).process_group(0);
        let mut child = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "set -e").unwrap();
        let done = lines(child.stdout.take().unwrap(), || {});
        Self { child, stdin, done, folder, blocks: 0 }
    }

    /// Runs a text and returns its output, as an error if a command failed.
    pub(crate) fn run(&mut self, text: &str) -> Result<String, String> {
        self.blocks += 1;
        let script = self.folder.join(format!("block-{}.sh", self.blocks));
        let printed = script.with_extension("out");
        fs::write(&script, text).unwrap();
        let (script, out) = (script.display(), printed.display());
        // Writing fails if the shell has exited. Reading the next line detects that.
        let _ = writeln!(self.stdin, ". '{script}' </dev/null >'{out}' 2>&1\necho done");
        let done = self.done.recv_timeout(PATIENCE);
        let printed = String::from_utf8_lossy(&fs::read(printed).unwrap_or_default()).into_owned();
        if done.is_ok() { Ok(printed) } else { Err(printed) }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // The shell may have exited already.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Terminal {
    /// Runs a text in this `bash` command.
    pub(crate) fn open(mut bash: Command, text: &str) -> Self {
        bash.args(["--noprofile", "--norc", "-e", "-c", &format!("exec 2>&1\n{text}")]);
        bash.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = bash.spawn().unwrap();
        let (group, ended) = (Pid::from_child(&child), Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&ended);
        let output_lines = lines(child.stdout.take().unwrap(), move || {
            // Set only after the process is gone, which its waiters check.
            over.store(true, Ordering::Relaxed);
            let _ = child.wait();
        });
        Self { group, ended, output_lines }
    }

    /// Returns the process id, for signals.
    pub(crate) fn pid(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Returns the next line of output.
    pub(crate) fn line(&self) -> Option<String> {
        self.output_lines.recv_timeout(PATIENCE).ok()
    }

    /// Returns the output that was not read yet.
    pub(crate) fn rest(&self) -> String {
        self.output_lines.try_iter().map(|line| line + "\n").collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::Relaxed) {
            // The program may exit at this moment.
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }
}

/// Reads a stream line by line, and reports its end.
fn lines(
    stream: impl Read + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        // Keep reading without a receiver, because a full pipe would block the process.
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
        end();
    });
    lines
}
