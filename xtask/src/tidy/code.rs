//! Separates Rust code, comments and strings, so that a check of one is not misled by the others.
//! Not a parser: it knows comments, quotes and raw quotes, and keeps every line at its number.

/// The same text as code and as comments. The other parts are blank, so lines and columns are
/// unchanged.
pub(super) struct Views {
    /// Code only: comments and the content of quotes are blank.
    pub(super) code: String,
    /// Comments only.
    pub(super) comments: String,
    /// Index of the line at which the tests at the end of the file begin.
    pub(super) tests_from: usize,
}

impl Views {
    /// Iterates over the lines of code that are not tests, numbered from one.
    pub(super) fn product(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().take(self.tests_from).enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Kind of a piece of source.
#[derive(Clone, Copy, PartialEq)]
enum SourceKind {
    Code,
    Comment,
    Quoted,
}

/// Splits a Rust source.
pub(super) fn views(text: &str) -> Views {
    let (mut code, mut comments) = (String::new(), String::new());
    let mut rest = text;
    while !rest.is_empty() {
        let (kind, length) = next_span(rest, code.chars().next_back());
        let (taken, left) = rest.split_at(length);
        for letter in taken.chars() {
            let blank = if letter == '\n' { '\n' } else { ' ' };
            code.push(if kind == SourceKind::Code { letter } else { blank });
            comments.push(if kind == SourceKind::Comment { letter } else { blank });
        }
        rest = left;
    }
    let starts = |line: &str| line.starts_with("#[cfg(test)]");
    let lines: Vec<&str> = code.lines().collect();
    let tests = (0..lines.len()).find(|&at| {
        let next = lines.iter().skip(at + 1).find(|line| !line.trim_start().starts_with("#["));
        starts(lines[at])
            && next.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    });
    let tests_from = tests.unwrap_or(lines.len());
    Views { code, comments, tests_from }
}

/// Returns the kind and the length in bytes of the piece at the beginning of `rest`. `before` is
/// the character before it.
fn next_span(rest: &str, before: Option<char>) -> (SourceKind, usize) {
    if rest.starts_with("//") {
        return (SourceKind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (SourceKind::Comment, block_comment(rest));
    }
    let in_word = before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    if let Some(length) = raw_quote(rest).filter(|_| !in_word) {
        return (SourceKind::Quoted, length);
    }
    if rest.starts_with('"') {
        return (SourceKind::Quoted, quote(rest));
    }
    if let Some(length) = char_quote(rest) {
        return (SourceKind::Quoted, length);
    }
    (SourceKind::Code, rest.chars().next().map_or(0, char::len_utf8))
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_u32, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Returns the length of `r"…"`, `r#"…"#` or `br"…"`.
fn raw_quote(rest: &str) -> Option<usize> {
    let prefix = if rest.starts_with("br") { 2 } else { usize::from(rest.starts_with('r')) };
    let marks = rest.get(prefix..)?.bytes().take_while(|&byte| byte == b'#').count();
    let open = prefix + marks;
    if prefix == 0 || rest.as_bytes().get(open) != Some(&b'"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(marks));
    let inside = &rest[open + 1..];
    Some(inside.find(&close).map_or(rest.len(), |at| open + 1 + at + close.len()))
}

fn quote(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of `'x'` or `'\n'`, but not of the lifetime `'a`.
fn char_quote(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    if inside.starts_with('\\') {
        let end = inside.get(2..)?.find('\'')?;
        return Some(1 + 2 + end + 1);
    }
    let letter = inside.chars().next()?.len_utf8();
    inside[letter..].starts_with('\'').then_some(1 + letter + 1)
}

/// Returns whether `line` contains `word` as a whole, and not as part of a longer name or number.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let inner = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(inner) && !after.is_some_and(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_quotes_are_separated_by_line() {
        let source =
            "let a = \"x // y\"; // one\n/* two /* deep */ */ let b = 'c';\nfn f<'a>() {}\n";
        let views = views(source);
        let code: Vec<&str> = views.code.lines().map(str::trim_end).collect();
        assert_eq!(
            code,
            ["let a =         ;", "                     let b =    ;", "fn f<'a>() {}"]
        );
        let comments: Vec<&str> = views.comments.lines().map(str::trim).collect();
        assert_eq!(comments, ["// one", "/* two /* deep */ */", ""]);
    }

    #[test]
    fn quotes_end_at_their_closing_mark() {
        for quoted in
            [r#""a\"b""#, "r\"a\\\"", "r#\"a\"b\"#", "br\"x\"", r"'\''", r"'\u{1F600}'", "'é'"]
        {
            let views = views(&format!("({quoted})7"));
            assert_eq!(views.code.replace(' ', ""), "()7", "{quoted}");
        }
    }

    #[test]
    fn tests_begin_at_their_module() {
        let source = "fn a() {}\n#[cfg(test)]\nimpl A {}\n#[cfg(test)]\nmod tests {\n  b();\n}\n";
        let views = views(source);
        assert_eq!(views.tests_from, 3);
        let product: Vec<_> = views.product().map(|(at, _)| at).collect();
        assert_eq!(product, [1, 2, 3]);
    }

    #[test]
    fn word_within_another_does_not_match() {
        assert!(has_word("max: 2048,", "2048") && has_word("sqlx::query", "sqlx"));
        assert!(!has_word("12048", "2048") && !has_word("my_sqlx", "sqlx"));
    }
}
