//! Reads a key from standard input: a prompt without echo on a terminal, otherwise one line. A key
//! on the command line would be visible in process lists and in the history of the shell.

use std::io::{
    BufRead as _, BufReader, ErrorKind, IsTerminal as _, Read as _, Stdin, Write as _, stderr,
    stdin,
};

use anyhow::{Context as _, Result, bail};
use contract::rpc;
use rules::Secret;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Maximum length of a line, in bytes. Keys are much shorter.
const LINE_BYTES_MAX: u64 = 4096;

/// Character that a terminal sends for Ctrl-C.
const CTRL_C: u8 = 3;

/// Terminal without echo until it is dropped.
struct HiddenInput<'a> {
    terminal: &'a Stdin,
    before: Termios,
}

/// Reads a key. Prompts if standard input is a terminal.
pub(crate) fn read_key() -> Result<Secret<String>> {
    let stdin = stdin();
    let line = if stdin.is_terminal() { prompt(&stdin) } else { line(&stdin) };
    let line = line.context("reading the key from standard input")?;
    let key = Secret::new(line.expose().trim().to_owned());
    if key.expose().is_empty() {
        bail!("no key on standard input; enter it, or pipe it: `aloft login < FILE`");
    }
    if !rpc::is_sendable_key(&key) {
        bail!("invalid character in the key on standard input; copy the key again");
    }
    Ok(key)
}

fn prompt(stdin: &Stdin) -> std::io::Result<Secret<String>> {
    let hidden = HiddenInput::begin(stdin)?;
    write!(stderr(), "API key (hidden): ")?;
    // A terminal gives one line at a time.
    let mut locked = stdin.lock();
    let line = locked.fill_buf()?.to_vec();
    locked.consume(line.len());
    drop(hidden);
    if line.contains(&CTRL_C) {
        return Err(ErrorKind::Interrupted.into());
    }
    String::from_utf8(line).map(Secret::new).map_err(|_| ErrorKind::InvalidData.into())
}

fn line(stdin: &Stdin) -> std::io::Result<Secret<String>> {
    let mut line = String::new();
    BufReader::new(stdin.lock().take(LINE_BYTES_MAX)).read_line(&mut line)?;
    Ok(Secret::new(line))
}

impl<'a> HiddenInput<'a> {
    fn begin(terminal: &'a Stdin) -> std::io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        // Ctrl-C ends the line instead of the process, which would leave the terminal without echo.
        hidden.local_modes.remove(LocalModes::ISIG);
        hidden.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
        tcsetattr(terminal, OptionalActions::Flush, &hidden)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for HiddenInput<'_> {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}
