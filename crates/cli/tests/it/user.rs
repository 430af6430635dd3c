//! A user with a home folder and a server: runs commands with input, and on a terminal.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::{Home, Ran, Server};

/// Runs a program on a terminal, types an answer after a prompt, and prints the terminal's content.
const TERMINAL: &str = r#"
import os, pty, sys
os.environ["HOME"], program = sys.argv[1], sys.argv[4:]
prompt, answer = sys.argv[2].encode(), sys.argv[3].encode()
process, terminal = pty.fork()
if process == 0:
    os.execv(program[0], program)
seen = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    seen += part
    if prompt and prompt in seen:
        prompt = b""
        os.write(terminal, answer + b"\n")
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"#;

/// A user of a running server.
pub(crate) struct User {
    pub(crate) home: Home,
    pub(crate) server: Server,
    /// A write key.
    pub(crate) key: String,
}

/// A question of a program, and the answer.
pub(crate) struct Dialogue<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) answer: &'a str,
}

impl User {
    /// Creates a user who has a key but is not logged in.
    pub(crate) fn new() -> Self {
        let (home, key) = Home::with_key();
        let server = home.serve();
        Self { home, server, key }
    }

    /// Creates a user who is logged in.
    pub(crate) fn logged_in() -> Self {
        let user = Self::new();
        let ran = user.run_with_input(&["login", "--base-url", &user.url()], &user.key);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        user
    }

    /// Returns the base URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/rpc", self.server.address)
    }

    /// Returns the file with the contexts.
    pub(crate) fn contexts(&self) -> PathBuf {
        self.home.path().join(".config/aloft/contexts.json")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("HOME", self.home.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        self.command(args).envs(variables.iter().copied()).output().unwrap().into()
    }

    /// Returns the output of a command that must succeed.
    pub(crate) fn done(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    /// Returns the JSON of a command that must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[args, &["--json"]].concat())).unwrap()
    }

    /// Returns the error of a command that must fail with 1.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(1), "{args:?}: {}{}", ran.out, ran.err);
        ran.err.replace(&self.url(), "URL")
    }

    /// Runs a command with this standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that fails early reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap().into()
    }

    /// Runs a command on a terminal. Its output is all that the terminal shows.
    pub(crate) fn run_on_terminal(&self, args: &[&str], dialogue: &Dialogue<'_>) -> Ran {
        let mut command = Command::new("python3");
        let program = env!("CARGO_BIN_EXE_aloft");
        let Dialogue { prompt, answer } = dialogue;
        command.args(["-c", TERMINAL]).arg(self.home.path()).args([prompt, answer, program]);
        command.args(args).current_dir(self.home.path());
        for variable in ["SERVICE_API_URL", "SERVICE_API_TOKEN", "SERVICE_API_KEY"] {
            command.env_remove(variable);
        }
        command.env_remove("XDG_CONFIG_HOME").output().unwrap().into()
    }
}
