//! `aloft watch` on a pseudo-terminal: the screen, keys, and the state of the terminal afterwards.

use std::process::{Command, Stdio};

use crate::user::User;

/// Runs a program on a terminal of 80×24, types keys after texts that the screen shows, and prints all
/// output, then the settings of the terminal before and after.
const TERMINAL: &str = r#"
import fcntl, os, pty, select, signal, struct, sys, termios
program, steps, sig = sys.argv[1:-2], sys.argv[-2].split("|"), int(sys.argv[-1])
terminal, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
before = termios.tcgetattr(slave)
process = os.fork()
if process == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for stream in range(3):
        os.dup2(slave, stream)
    os.execv(program[0], program)
steps = [step.split("=>") for step in steps if step]
seen = fresh = b""
while True:
    ready, _, _ = select.select([terminal], [], [], 0 if os.waitpid(process, os.WNOHANG)[0] else 60)
    if not ready:
        break
    part = os.read(terminal, 65536)
    seen, fresh = seen + part, fresh + part
    if steps and steps[0][0].encode() in fresh:
        keys = steps.pop(0)[1].encode().decode("unicode_escape").encode()
        fresh = b""
        if keys == b"resize":
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.kill(process, signal.SIGWINCH)
        elif keys == b"signal":
            os.kill(process, sig)
        else:
            os.write(terminal, keys)
    if not steps and termios.tcgetattr(slave) == before and b"\x1b[?1049l" in fresh:
        break
sys.stdout.buffer.write(seen)
print("\nrestored:", termios.tcgetattr(slave) == before, "left:", len(steps))
"#;

/// Returns the output of `aloft watch` after these steps: texts to wait for, with the keys to press.
fn watch(user: &User, steps: &str, signal: i32) -> String {
    let mut command = Command::new("python3");
    command.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_aloft"), "watch", steps]);
    command.arg(signal.to_string()).env("HOME", user.home.path()).env("TERM", "xterm-256color");
    for variable in ["SERVICE_API_URL", "SERVICE_API_TOKEN", "SERVICE_API_KEY", "NO_COLOR"] {
        command.env_remove(variable);
    }
    let ran = command.env_remove("XDG_CONFIG_HOME").current_dir(user.home.path()).output().unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    format!("{out}{}", String::from_utf8_lossy(&ran.stderr))
}

fn user() -> User {
    let user = User::logged_in();
    let create = ["monitors", "create", "tcp", "--name", "Database", "--uri", "127.0.0.1:9"];
    user.done(&[&create[..], &["--periodicity", "1h"]].concat());
    user
}

#[test]
fn terminal_is_restored_after_quitting() {
    let user = user();
    let steps =
        "Database=>/|filter:=>x|no monitor matches=>\\x1b|Database=>resize|select=>\\r|(mon_=>q";
    let out = watch(&user, steps, 0);
    assert!(out.contains("\u{1b}[?1049h") && out.contains("\u{1b}[?1049l"), "{out}");
    assert!(out.ends_with("restored: True left: 0\n"), "{out}");
}

#[test]
fn terminal_is_restored_after_signals() {
    let user = user();
    for signal in [1, 2, 15] {
        let out = watch(&user, "Database=>signal", signal);
        assert!(out.ends_with("restored: True left: 0\n"), "{signal}: {out}");
    }
    // In raw mode, Ctrl-C is a key.
    let out = watch(&user, "Database=>\\x03", 0);
    assert!(out.ends_with("restored: True left: 0\n"), "{out}");
}

#[test]
fn watch_is_refused_without_a_terminal() {
    let user = User::logged_in();
    let why = user.refused(&["watch"]);
    assert!(why.contains("`aloft watch` needs a terminal; scripts use"), "{why}");
    let ran = user.command(&["watch"]).stdin(Stdio::null()).output().unwrap();
    assert!(!String::from_utf8(ran.stdout).unwrap().contains('\u{1b}'));
}
