//! Reads code by the grammars of Sublime Text and `bat`, with `syntect`. `scopes` maps their scopes to
//! the few kinds of tokens that pages distinguish.

use anyhow::{Context as _, Result};
use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use super::scopes::Kinds;
use super::{Token, TokenKind};

/// All grammars.
#[derive(Debug)]
pub(super) struct Grammars {
    syntaxes: SyntaxSet,
    kinds: Kinds,
}

/// Names in Markdown fences that differ from the extension by which grammars are found.
const EXTENSIONS: [(&str, &str); 11] = [
    ("bash", "sh"),
    ("console", "sh"),
    ("hcl", "tf"),
    ("javascript", "js"),
    ("jsonc", "json"),
    ("mjs", "js"),
    ("nginx", "conf"),
    ("python", "py"),
    ("shell", "sh"),
    ("terraform", "tf"),
    ("typescript", "ts"),
];
const SHELL: &str = "sh";

impl Grammars {
    /// Loads the grammars.
    pub(super) fn load() -> Self {
        Self { syntaxes: two_face::syntax::extra_newlines(), kinds: Kinds::new() }
    }

    /// Returns the tokens of an example, which together are the whole code. Code in a language without
    /// a grammar is one token.
    pub(super) fn tokens(&self, language: &str, code: &str) -> Result<Vec<Token>> {
        let known = EXTENSIONS.iter().find(|(name, _)| *name == language);
        let extension = known.map_or(language, |(_, extension)| extension);
        let tokens = self.parse(extension, code)?;
        if extension == SHELL { self.with_bodies(&tokens, code) } else { Ok(tokens) }
    }

    fn parse(&self, extension: &str, code: &str) -> Result<Vec<Token>> {
        let Some(syntax) = self.syntaxes.find_syntax_by_extension(extension) else {
            return Ok(vec![Token { kind: TokenKind::Plain, length: code.len() }]);
        };
        let (mut state, mut stack) = (ParseState::new(syntax), ScopeStack::new());
        let mut tokens = Tokens::default();
        // Grammars expect a line break at the end of each line.
        let code = format!("{code}\n");
        for line in code.split_inclusive('\n') {
            let changes = state.parse_line(line, &self.syntaxes).context("a grammar is invalid")?;
            let mut begin = 0;
            for (at, change) in changes {
                tokens.push(self.kinds.kind(&stack), &line[begin..at]);
                stack.apply(&change).context("a grammar is invalid")?;
                begin = at;
            }
            tokens.push(self.kinds.kind(&stack), &line[begin..]);
        }
        Ok(tokens.without_last_byte())
    }

    /// Highlights the JSON bodies of calls in the single quotes of a shell command.
    fn with_bodies(&self, tokens: &[Token], code: &str) -> Result<Vec<Token>> {
        let quote = Token { kind: TokenKind::Text, length: 1 };
        let (mut all, mut at) = (Vec::new(), 0);
        for token in tokens {
            let text = &code[at..at + token.length];
            at += token.length;
            let body = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
            match body.filter(|body| body.starts_with('{') && body.ends_with('}')) {
                Some(body) if token.kind == TokenKind::Text => {
                    all.push(quote);
                    all.extend(self.parse("json", body)?);
                    all.push(quote);
                }
                Some(_) | None => all.push(*token),
            }
        }
        Ok(all)
    }
}

/// The tokens of an example so far.
#[derive(Debug, Default)]
struct Tokens(Vec<Token>);

impl Tokens {
    /// Appends a token, or extends the last one if it is of the same kind. The line break after a
    /// comment does not belong to it, and spaces in plain text are plain.
    fn push(&mut self, kind: TokenKind, text: &str) {
        if let (TokenKind::Comment, Some(line)) = (kind, text.strip_suffix('\n')) {
            self.push(kind, line);
            return self.push(TokenKind::Plain, "\n");
        }
        let is_blank = text.chars().all(char::is_whitespace);
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.kind == kind || is_blank && last.kind == TokenKind::Plain => {
                last.length += text.len();
            }
            _ => self.0.push(Token { kind, length: text.len() }),
        }
    }

    /// Returns the tokens without the line break at the end.
    fn without_last_byte(mut self) -> Vec<Token> {
        if let Some(last) = self.0.last_mut() {
            last.length -= 1;
        }
        self.0.retain(|token| token.length > 0);
        self.0
    }
}
