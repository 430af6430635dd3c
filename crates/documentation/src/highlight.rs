//! Highlights code: comments, strings, keys, numbers and a few keywords of each language. A small
//! scanner recognizes them without a grammar and leaves other text unchanged.

mod languages;

use self::languages::{LANGUAGES, PLAIN};
use super::html::escape;

/// A language of code examples.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Language {
    /// Its names in Markdown fences.
    names: &'static [&'static str],
    /// Its name on pages.
    pub(super) label: &'static str,
    /// Whether its examples call the server that shows them.
    calls_server: bool,
    /// Prefixes of line comments.
    comments: &'static [&'static str],
    /// Quotation marks of strings.
    quotes: &'static str,
    /// Rule that recognizes keys.
    keys: Keys,
    /// Keywords.
    keywords: &'static [&'static str],
}

/// Language and properties of a code block, as its fence states them: ```` ```sh local ````.
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

/// The rule that makes a name or a string a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    None,
    /// This character after it, with or without spaces between.
    Before(char),
    /// This character directly after it.
    Touching(char),
}

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Comment,
    Text,
    Key,
    Word,
    Number,
}

impl Fence {
    /// Parses the text after the backticks. Code in an unknown language is not highlighted.
    pub(super) fn parse(fence: &str) -> Self {
        let mut words = fence.split([' ', ',', '{']);
        let language = Language::from_name(words.next().unwrap_or_default());
        let runs_on =
            if words.any(|word| word == "local") { RunsOn::Server } else { RunsOn::Anywhere };
        Self { language, runs_on }
    }

    /// Returns whether the code calls this server at its public URL.
    pub(super) fn calls_server(self) -> bool {
        self.language.calls_server && self.runs_on == RunsOn::Anywhere
    }
}

impl Language {
    fn from_name(name: &str) -> &'static Self {
        let known = LANGUAGES.iter().find(|language| language.names.contains(&name));
        known.unwrap_or(&PLAIN)
    }

    /// Returns the code as HTML, with each known token in an element with a class.
    pub(super) fn highlight(&self, code: &str) -> String {
        let mut out = String::with_capacity(code.len() * 2);
        let (mut rest, mut before) = (code, None);
        while let Some(first) = rest.chars().next() {
            let (kind, length) = self.token(rest, first, before);
            let (token, after) = rest.split_at(length);
            match (kind.class(), body(token).filter(|_| self.calls_server && kind == Kind::Text)) {
                (Some(class), Some(body)) => {
                    marked(&mut out, class, "'");
                    out.push_str(&Self::from_name("json").highlight(body));
                    marked(&mut out, class, "'");
                }
                (Some(class), None) => marked(&mut out, class, token),
                (None, _) => escape(&mut out, token),
            }
            before = token.chars().next_back();
            rest = after;
        }
        out
    }

    /// Returns the kind and the length in bytes of the token at the beginning of `rest`.
    fn token(&self, rest: &str, first: char, before: Option<char>) -> (Kind, usize) {
        let begins = before.is_none_or(char::is_whitespace);
        if begins && self.comments.iter().any(|mark| rest.starts_with(mark)) {
            return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
        }
        if self.quotes.contains(first)
            && let Some(length) = quoted(rest, first)
        {
            let kind = if self.is_key(&rest[length..]) { Kind::Key } else { Kind::Text };
            return (kind, length);
        }
        let is_in_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
        let length = rest.find(|letter| !is_in_word(letter)).unwrap_or(rest.len());
        if length == 0 {
            return (Kind::Plain, first.len_utf8());
        }
        let word = &rest[..length];
        let is_own = before.is_none_or(|letter| !matches!(letter, '.' | '$' | '/'));
        if is_own && self.is_key(&rest[length..]) {
            (Kind::Key, length)
        } else if is_own && self.keywords.contains(&word) {
            (Kind::Word, length)
        } else if first.is_ascii_digit() && !self.keywords.is_empty() {
            (Kind::Number, length)
        } else {
            (Kind::Plain, length)
        }
    }

    /// Returns whether the text before `rest` is a key.
    fn is_key(&self, rest: &str) -> bool {
        let (mark, rest) = match self.keys {
            Keys::None => return false,
            Keys::Before(mark) => (mark, rest.trim_start_matches([' ', '\t'])),
            Keys::Touching(mark) => (mark, rest),
        };
        // `==` and `=>` do not end a key.
        let behind = rest.strip_prefix(mark);
        behind.is_some_and(|behind| !behind.starts_with([mark, '>', '/']))
    }
}

impl Kind {
    const fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Comment => Some("c"),
            Self::Text => Some("s"),
            Self::Key => Some("k"),
            Self::Word => Some("w"),
            Self::Number => Some("n"),
        }
    }
}

/// Writes a token in an element with this class.
fn marked(out: &mut String, class: &str, token: &str) {
    out.push_str("<span class=\"");
    out.push_str(class);
    out.push_str("\">");
    escape(out, token);
    out.push_str("</span>");
}

/// Returns the text in the single quotes of a shell command, if it is the JSON body of a call.
fn body(token: &str) -> Option<&str> {
    let inside = token.strip_prefix('\'')?.strip_suffix('\'')?;
    (inside.starts_with('{') && inside.ends_with('}')).then_some(inside)
}

/// Returns the length of the string that begins here, with both quotes, or `None` if it does not end.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            // A shell's single quotes have no escapes: the next quote ends them.
            '\\' => escaped = quote != '\'',
            _ if letter == quote => return Some(at + letter.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(fence: &str, code: &str) -> String {
        let html = Language::from_name(fence).highlight(code);
        html.replace("<span class=\"", "[").replace("\">", " ").replace("</span>", "]")
    }

    #[test]
    fn known_tokens_are_highlighted() {
        for (fence, code, colours) in [
            (
                "json",
                "{\"a\": [1, true, \"b\"]}",
                "{[k &quot;a&quot;]: [[n 1], [w true], [s &quot;b&quot;]]}",
            ),
            (
                "sh",
                "KEY=x curl -d '{\"a\":1}' # c",
                "[k KEY]=x curl -d [s &#39;]{[k &quot;a&quot;]:[n 1]}[s &#39;] [c # c]",
            ),
            ("sh", "curl http://127.0.0.1:8080/#x $#", "curl http://127.0.0.1:8080/#x $#"),
            (
                "terraform",
                "resource \"x\" \"y\" {\n  a = 1 # c\n}",
                "[w resource] [s &quot;x&quot;] [s &quot;y&quot;] {\n  [k a] = [n 1] [c # c]\n}",
            ),
            ("terraform", "a == b", "a == b"),
            (
                "ts",
                "const a = { url: \"x\" }; // c",
                "[w const] a = { [k url]: [s &quot;x&quot;] }; [c // c]",
            ),
            ("ts", "client.from(x)", "client.from(x)"),
            ("toml", "public_url = \"x\"", "[k public_url] = [s &quot;x&quot;]"),
            ("text", "a = 'b' # 1", "a = &#39;b&#39; # 1"),
        ] {
            assert_eq!(coloured(fence, code), colours, "{fence}: {code}");
        }
    }

    #[test]
    fn highlighting_keeps_every_character() {
        for fence in ["sh", "ts", "json", "hcl", "toml", "yaml", "nginx", ""] {
            for code in
                ["\"open", "it's", "ä = \"ö\\\"\" // ü", "`a\nb`", "'\\", "#", "//", "=", ":"]
            {
                let html = Language::from_name(fence).highlight(code);
                let mut text = html.replace("</span>", "");
                for class in ["c", "s", "k", "w", "n"] {
                    text = text.replace(&format!("<span class=\"{class}\">"), "");
                }
                let mut escaped = String::new();
                escape(&mut escaped, code);
                assert_eq!(text, escaped, "{fence}");
            }
        }
    }
}
