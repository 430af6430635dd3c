//! Maps the scopes of the grammars to kinds of tokens.

use syntect::parsing::{Scope, ScopeStack};

use super::TokenKind;

/// Scopes between keys and values, which belong to neither.
const SEPARATORS: [&str; 3] =
    ["punctuation.separator", "punctuation.definition.equals", "keyword.operator.assignment"];

/// Scopes of keys, which may contain others: the quotes of a string, for example.
const KEYS: [&str; 8] = [
    "meta.mapping.key.json",
    "meta.object-literal.key",
    "entity.name.tag.yaml",
    "entity.name.tag.toml",
    "keyword.name.ini",
    "keyword.directive",
    "entity.other.attribute-name",
    "variable.other.readwrite.assignment",
];

/// Scope of a declaration in Terraform, and the scope of the name in it.
const DECLARATION: (&str, &str) = ("variable.declaration.terraform", "variable.other");

/// Other scopes with their kinds. The innermost scope of a token that is here gives its kind.
const SCOPES: [(&str, TokenKind); 17] = [
    ("comment", TokenKind::Comment),
    ("meta.interpolation", TokenKind::Plain),
    ("meta.template.expression", TokenKind::Plain),
    ("keyword.other.interpolation", TokenKind::Plain),
    ("string.unquoted", TokenKind::Plain),
    ("string.name.value.ini", TokenKind::Plain),
    ("string.ipaddress", TokenKind::Number),
    ("string", TokenKind::Text),
    ("constant.numeric", TokenKind::Number),
    ("constant.language", TokenKind::Keyword),
    ("keyword.operator.expression", TokenKind::Keyword),
    ("keyword.operator.new", TokenKind::Keyword),
    ("keyword.operator", TokenKind::Plain),
    ("keyword", TokenKind::Keyword),
    ("storage.type.function.arrow", TokenKind::Plain),
    ("storage", TokenKind::Keyword),
    ("entity.name.tag", TokenKind::Keyword),
];

/// The tables above, parsed.
#[derive(Debug)]
pub(super) struct Kinds {
    separators: Vec<Scope>,
    keys: Vec<Scope>,
    declaration: Scope,
    declared: Scope,
    scopes: Vec<(Scope, TokenKind)>,
}

impl Kinds {
    pub(super) fn new() -> Self {
        Self {
            separators: SEPARATORS.into_iter().map(scope).collect(),
            keys: KEYS.into_iter().map(scope).collect(),
            declaration: scope(DECLARATION.0),
            declared: scope(DECLARATION.1),
            scopes: SCOPES.into_iter().map(|(text, kind)| (scope(text), kind)).collect(),
        }
    }

    /// Returns the kind of a token in these scopes, outermost first.
    pub(super) fn kind(&self, stack: &ScopeStack) -> TokenKind {
        let scopes = stack.as_slice();
        let Some(innermost) = scopes.last() else { return TokenKind::Plain };
        if self.separators.iter().any(|separator| separator.is_prefix_of(*innermost)) {
            return TokenKind::Plain;
        }
        let is_key = |scope: &Scope| self.keys.iter().any(|key| key.is_prefix_of(*scope));
        if scopes.iter().any(is_key) || self.is_declared(scopes, *innermost) {
            return TokenKind::Key;
        }
        let kind = |scope: &Scope| {
            self.scopes.iter().find(|(known, _)| known.is_prefix_of(*scope)).map(|it| it.1)
        };
        scopes.iter().rev().find_map(kind).unwrap_or(TokenKind::Plain)
    }

    fn is_declared(&self, scopes: &[Scope], innermost: Scope) -> bool {
        let is_in_declaration = scopes.iter().any(|scope| self.declaration.is_prefix_of(*scope));
        is_in_declaration && self.declared.is_prefix_of(innermost)
    }
}

fn scope(text: &str) -> Scope {
    Scope::new(text).expect("scopes have few parts")
}
