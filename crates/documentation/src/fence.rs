//! The language of a code example and the machine that it is for, as the fence in Markdown states them.

/// A language of code examples.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Language {
    /// Its names in Markdown fences.
    names: &'static [&'static str],
    /// Its name on pages.
    pub(super) label: &'static str,
    /// Whether its examples call the server that shows them.
    calls_server: bool,
}

/// Language and properties of a code block: ```` ```sh local ````.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) language: &'static Language,
    pub(super) runs_on: RunsOn,
}

/// The machine on which code is meant to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunsOn {
    /// The reader's machine, which calls the server at its public URL.
    Anywhere,
    /// The server's own machine, stated by `local` after the language. Addresses remain unchanged.
    Server,
}

/// Unknown language, which has no label and is not highlighted.
const PLAIN: Language = Language { names: &[], label: "", calls_server: false };

/// All languages, with their names in Markdown fences.
const LANGUAGES: &[Language] = &[
    Language { names: &["sh", "shell", "bash", "console"], label: "Shell", calls_server: true },
    Language { names: &["ts", "typescript"], label: "TypeScript", calls_server: true },
    Language { names: &["go"], label: "Go", calls_server: true },
    Language { names: &["py", "python"], label: "Python", calls_server: true },
    Language { names: &["js", "javascript", "mjs"], label: "JavaScript", calls_server: true },
    Language { names: &["terraform", "hcl", "tf"], label: "Terraform", calls_server: true },
    Language { names: &["json", "jsonc"], label: "JSON", calls_server: false },
    Language { names: &["toml"], label: "TOML", calls_server: false },
    Language { names: &["ini", "systemd"], label: "INI", calls_server: false },
    Language { names: &["yaml", "yml"], label: "YAML", calls_server: false },
    Language { names: &["nginx"], label: "nginx", calls_server: false },
    Language { names: &["caddy", "caddyfile"], label: "Caddy", calls_server: false },
    Language { names: &["nats"], label: "NATS", calls_server: false },
    Language { names: &["dns"], label: "DNS", calls_server: false },
    Language { names: &["html"], label: "HTML", calls_server: true },
    Language { names: &["http"], label: "HTTP", calls_server: false },
];

impl Fence {
    /// Parses the text after the backticks.
    pub(super) fn parse(fence: &str) -> Self {
        let mut words = fence.split([' ', ',', '{']);
        let name = words.next().unwrap_or_default();
        let known = LANGUAGES.iter().find(|language| language.names.contains(&name));
        let runs_on =
            if words.any(|word| word == "local") { RunsOn::Server } else { RunsOn::Anywhere };
        Self { language: known.unwrap_or(&PLAIN), runs_on }
    }

    /// Returns whether the code calls this server at its public URL.
    pub(super) fn calls_server(self) -> bool {
        self.language.calls_server && self.runs_on == RunsOn::Anywhere
    }
}
