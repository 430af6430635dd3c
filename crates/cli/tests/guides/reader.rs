//! Follows a page from beginning to end as a reader would: saves files, runs commands, replaces
//! placeholders by received values, and compares the output with the page.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::{Deserializer, Value};
use tokio::time::Instant;

use crate::document::{Block, Document};
use crate::environment::World;
use crate::files;
use crate::shell::{PATIENCE, Shell, Terminal};

/// Prefix of a key before `…` in a page, and minimum number of the following characters.
const KEY: (&str, usize) = ("aloft_", 40);
/// The same for all other received values.
const RESPONSES: [(&str, usize); 16] = [
    KEY,
    ("ws_", 10),
    ("mon_", 10),
    ("chn_", 10),
    ("page_", 10),
    ("cmp_", 10),
    ("grp_", 10),
    ("rpt_", 10),
    ("upd_", 10),
    ("sub_", 10),
    ("mnt_", 10),
    ("inc_", 10),
    ("dlv_", 10),
    ("tpl_", 10),
    ("key_", 10),
    ("whsec_", 20),
];
/// Values that appear after a while, and the command that prints them.
const COMES: [(&str, &str); 1] = [("inc_", "aloft incidents list --json")];
/// First line of a block that runs until it is stopped.
const BESIDE: &str = "# in a terminal of its own\n";
/// Commands that start a server.
const STARTS: [&str; 3] = ["aloft serve", "serve --demo", "enable --now aloft"];
/// Addresses of the server and of the reader's own receiver in the pages.
const SERVER: &str = "127.0.0.1:8080";
const RECEIVER: &str = "127.0.0.1:9000";

/// A reader at some block of a page.
pub(crate) struct Reader {
    shell: Shell,
    terminals: Vec<Terminal>,
    answered: HashMap<&'static str, String>,
    /// Output of the last command.
    printed: String,
    server: Option<String>,
    receiver: Option<String>,
    programs: Vec<String>,
    world: World,
}

impl Reader {
    /// Follows a page, then calls `look` to check the result.
    pub(crate) async fn follow(path: &str, look: impl FnOnce(&mut Self)) {
        let blocks = Document::read(path).blocks();
        let text: String = blocks.iter().map(|block| block.text.as_str()).collect();
        let mut world = World::start(&text).await;
        world.is_prepared = !STARTS.iter().any(|start| text.contains(start));
        tokio::task::block_in_place(|| {
            let mut reader = Self::at(world);
            for block in blocks.iter().filter(|block| block.not_run.is_none()) {
                reader.follow_block(block);
            }
            files::must_be_typed(&reader.world, &reader.programs);
            look(&mut reader);
        });
    }

    /// Creates a reader in an empty folder, with a running server if the page expects one.
    fn at(world: World) -> Self {
        let shell = Shell::start(world.bash(), world.path("tmp"));
        let mut reader = Self {
            shell,
            terminals: Vec::new(),
            answered: HashMap::new(),
            printed: String::new(),
            server: None,
            receiver: None,
            programs: Vec::new(),
            world,
        };
        if reader.world.is_prepared {
            reader.serve("");
            let made = "aloft workspaces create --slug acme --name Acme\n\
                        aloft keys create --workspace acme --name test --scope write\n";
            reader.types("before the page", made);
        }
        reader
    }

    /// Runs a command that is not on the page and returns its output.
    pub(crate) fn run(&mut self, command: &str) -> String {
        self.type_one("after the page", command)
    }

    fn follow_block(&mut self, block: &Block) {
        let Block { place, language, text, file, .. } = block;
        match (language.as_str(), file) {
            ("sh", _) if text.starts_with(BESIDE) => self.opens(place, text),
            ("sh", _) => self.types(place, text),
            (
                "ts" | "js" | "go" | "py" | "hcl" | "toml" | "ini" | "nats" | "nginx" | "caddyfile"
                | "json" | "yaml",
                Some(file),
            ) => self.saves(place, language, file, text),
            ("json", None) => {
                let promised: Value = serde_json::from_str(&self.placed(text)).unwrap();
                let came = documents(&self.printed).iter().any(|came| fits(&promised, came));
                assert!(came, "{place}: no match in the output: {}", self.printed);
            }
            ("dns", None) => {
                let zone = self.filled(place, text);
                self.world.publishes(&zone);
            }
            ("text", None) => {
                for line in text.lines() {
                    assert!(
                        self.printed.contains(line),
                        "{place}: `{line}` not found in the output: {}",
                        self.printed
                    );
                }
            }
            ("html", None) => {
                for source in text.split("src=\"").skip(1).filter_map(|it| it.split('"').next()) {
                    self.types(
                        place,
                        &format!("curl -sS --fail-with-body -o /dev/null '{source}'\n"),
                    );
                }
            }
            _ => panic!("{place}: unsupported language `{language}`"),
        }
    }

    /// Runs the commands of a block in sequence.
    fn types(&mut self, place: &str, text: &str) {
        let mut printed = String::new();
        for command in commands(place, text) {
            printed.push_str(&self.type_one(place, &command));
        }
        self.printed = printed;
    }

    /// Runs a command, starts the server that it requests, and returns its output.
    fn type_one(&mut self, place: &str, text: &str) -> String {
        let text = self.filled(place, text);
        let printed = self
            .shell
            .run(&text)
            .unwrap_or_else(|why| panic!("{place} failed:\n{text}\n{why}\n{}", self.output()));
        record_values(&mut self.answered, &RESPONSES, &printed);
        let asked = self.world.path("to-start");
        for flags in fs::read_to_string(&asked).unwrap_or_default().lines() {
            self.serve(flags);
        }
        if asked.exists() {
            fs::remove_file(asked).unwrap();
        }
        printed
    }

    /// Runs a block in its own terminal and waits until it listens.
    fn opens(&mut self, place: &str, text: &str) {
        let text = self.filled(place, text);
        let address = self.open(self.world.bash(), &text);
        if text.contains("aloft serve") {
            self.server = Some(address);
        } else {
            self.receiver = Some(address);
        }
    }

    /// Starts a server with these flags and the variables of the unit's file, if it exists.
    fn serve(&mut self, flags: &str) {
        let mut bash = self.world.bash();
        let variables =
            fs::read_to_string(self.world.path("etc/aloft/secrets")).unwrap_or_default();
        bash.envs(variables.lines().filter_map(|line| line.split_once('=')));
        self.server = Some(self.open(bash, &format!("exec aloft serve {flags}")));
        let process = self.terminals.last().unwrap().pid().to_string();
        fs::write(self.world.path("server"), process).unwrap();
    }

    /// Opens a terminal and waits until its program prints the address on which it listens.
    fn open(&mut self, bash: Command, text: &str) -> String {
        let terminal = Terminal::open(bash, text);
        let mut terminal_text = String::new();
        let address = loop {
            let line = terminal
                .line()
                .unwrap_or_else(|| panic!("it does not listen: {text}\n{terminal_text}"));
            record_values(&mut self.answered, &[KEY], &line);
            terminal_text = terminal_text + &line + "\n";
            if let Some(address) = listens(&terminal_text) {
                break address;
            }
        };
        self.terminals.push(terminal);
        address.to_string()
    }

    /// Saves a file and validates it with the program that reads it.
    fn saves(&mut self, place: &str, language: &str, file: &str, text: &str) {
        let path = match file.strip_prefix('/') {
            Some(below) => self.world.path(below),
            None => self.world.work().join(file),
        };
        let text = match language {
            "json" => text.to_owned(),
            _ => self.filled(place, text).replace("listen(9000,", "listen(0,"),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        files::must_be_read(&self.world, place, language, &path);
        if matches!(language, "ts" | "py") {
            self.programs.push(file.to_owned());
        }
    }

    /// Returns a text with the addresses of this test.
    fn placed(&self, text: &str) -> String {
        let mut text = self.world.placed(text);
        for (written, address) in [(SERVER, &self.server), (RECEIVER, &self.receiver)] {
            if let Some(address) = address {
                text = text.replace(written, address);
            }
        }
        text
    }

    /// Returns a text with the addresses of this test and with received values in place of `…`.
    fn filled(&mut self, place: &str, text: &str) -> String {
        let mut text = self.placed(text);
        for (prefix, _) in RESPONSES {
            let open = format!("{prefix}…");
            if text.contains(&open) {
                text = text.replace(&open, &self.answer(place, prefix));
            }
        }
        assert!(!text.contains('…'), "{place} has an unknown placeholder:\n{text}");
        text
    }

    /// Returns the last received value with a prefix. Waits for values that appear by themselves.
    fn answer(&mut self, place: &str, prefix: &str) -> String {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            // The server's log contains ids, and the demo prints a key.
            let terminal_text = self.output();
            record_values(&mut self.answered, &[KEY], &terminal_text);
            if let Some(known) = self.answered.get(prefix) {
                return known.clone();
            }
            if let Some((_, asked)) = COMES.iter().find(|(it, _)| *it == prefix) {
                let printed = self.shell.run(asked).unwrap_or_else(|why| panic!("{place}: {why}"));
                record_values(&mut self.answered, &RESPONSES, &printed);
            } else if let Some(line) = self.terminals.last().and_then(Terminal::line) {
                record_values(&mut self.answered, &[KEY], &line);
            } else {
                break;
            }
        }
        panic!("{place}: no earlier output contains `{prefix}…`");
    }

    /// Returns the output of the terminals since the last call.
    fn output(&self) -> String {
        self.terminals.iter().map(Terminal::rest).collect()
    }
}

/// Splits a block into commands. A command ends at the first line that completes it.
fn commands(place: &str, text: &str) -> Vec<String> {
    let (mut commands, mut open) = (Vec::new(), String::new());
    for line in text.lines() {
        open = open + line + "\n";
        if !line.ends_with('\\') && is_complete(&open) {
            commands.push(std::mem::take(&mut open));
        }
    }
    assert_eq!(open, "", "{place} ends with an incomplete command");
    commands
}

/// Returns whether the shell considers a text complete. For an open here-document it only prints a
/// warning.
fn is_complete(text: &str) -> bool {
    let read = Command::new("bash").args(["-n", "-c", text]).output().unwrap();
    read.status.success() && read.stderr.is_empty()
}

/// Returns the address on which a program says that it listens.
fn listens(terminal_text: &str) -> Option<SocketAddr> {
    if let Some((_, after)) = terminal_text.split_once("answering on http://") {
        let end = after.find(|it: char| !it.is_ascii_digit() && !".:".contains(it))?;
        return after[..end].parse().ok();
    }
    let (_, after) = terminal_text.split_once("listening")?.1.split_once("port: ")?;
    let port: String = after.chars().take_while(char::is_ascii_digit).collect();
    format!("127.0.0.1:{port}").parse().ok()
}

/// Stores the last value of each prefix in a text.
fn record_values(
    answered: &mut HashMap<&'static str, String>,
    sorts: &[(&'static str, usize)],
    text: &str,
) {
    for (prefix, fewest) in sorts.iter().copied() {
        for (at, _) in text.match_indices(prefix) {
            let begins = !text[..at].ends_with(|it: char| it.is_ascii_alphanumeric() || it == '_');
            let rest = &text[at + prefix.len()..];
            let is_part = |it: char| it.is_ascii_alphanumeric() || "_+/=".contains(it);
            let length = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
            if begins && length >= fewest {
                answered.insert(prefix, text[at..at + prefix.len() + length].to_owned());
            }
        }
    }
}

/// Returns every JSON object in a text.
fn documents(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut stream = Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(value)) = stream.next() {
            found.push(value);
        }
        rest = rest.get(stream.byte_offset().max(1)..).unwrap_or_default();
    }
    found
}

/// Returns whether a value contains everything promised. `…` matches any text.
fn fits(promised: &Value, came: &Value) -> bool {
    match (promised, came) {
        (Value::Object(promised), Value::Object(came)) => {
            let has = |(name, value)| came.get(name).is_some_and(|came| fits(value, came));
            promised.iter().all(has)
        }
        (Value::Array(promised), Value::Array(came)) => {
            let mut pairs = promised.iter().zip(came);
            promised.len() == came.len() && pairs.all(|(promised, came)| fits(promised, came))
        }
        (Value::String(promised), Value::String(came)) => match promised.split_once('…') {
            Some((before, _)) => came.starts_with(before),
            None => promised == came,
        },
        _ => promised == came,
    }
}

#[test]
fn complete_values_are_found_in_output() {
    let mut answered = HashMap::new();
    record_values(
        &mut answered,
        &RESPONSES,
        "{\"id\":\"mon_0000000000001\"} xmon_0000000000002 mon_3 aloft_checks_total",
    );
    assert_eq!(answered, HashMap::from([("mon_", "mon_0000000000001".to_owned())]));
}

#[test]
fn value_fits_if_it_contains_the_promise() {
    let came = documents("{\"a\":[{\"id\":\"mon_1\",\"b\":2}]}{\"c\":1} text");
    assert_eq!(came.len(), 2);
    let promised = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert!(fits(&promised(r#"{"a":[{"id":"mon_…"}]}"#), &came[0]));
    assert!(!fits(&promised(r#"{"a":[]}"#), &came[0]));
    assert!(!fits(&promised(r#"{"a":[{"b":3}]}"#), &came[0]));
}

#[test]
fn block_is_split_into_commands() {
    let text = "a \\\n  b\nc() {\n  d\n}\ne '\nf'\ng <<'END'\nh\nEND\n";
    let expected = ["a \\\n  b\n", "c() {\n  d\n}\n", "e '\nf'\n", "g <<'END'\nh\nEND\n"];
    assert_eq!(commands("here", text), expected);
}

#[test]
fn listening_address_is_read_from_output() {
    let here = |port| Some(SocketAddr::from(([127, 0, 0, 1], port)));
    assert_eq!(listens("{\"message\":\"answering on http://127.0.0.1:81 \"}"), here(81));
    assert_eq!(listens("listening { address: '127.0.0.1', family: 'IPv4', port: 82 }\n"), here(82));
    assert_eq!(listens("listening"), None);
}
