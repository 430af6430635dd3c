//! The short code of a program's login, which a person compares or types.

use std::fmt;

use web::context::Context;

/// Letters of a code. Without vowels, they form no words.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const CODE_LETTERS: usize = 8;

/// Code that a person compares: two groups of four letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserCode(String);

impl UserCode {
    /// Reads a code as people type it: in any case, with or without the hyphen.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let letters = text.chars().filter(|it| !it.is_whitespace() && *it != '-');
        let code: String =
            letters.map(|it| it.to_ascii_uppercase()).take(CODE_LETTERS + 1).collect();
        let is_letter = |it: u8| LETTERS.contains(&it);
        (code.len() == CODE_LETTERS && code.bytes().all(is_letter)).then_some(Self(code))
    }

    pub(crate) fn random(ctx: &Context) -> Self {
        let bytes = ctx.secret_bytes();
        // 256 is no multiple of 20, which makes some letters likelier by a twelfth: a loss of 0.01 bits.
        let letters = bytes.iter().take(CODE_LETTERS).map(|it| {
            let index = usize::from(*it) % LETTERS.len();
            char::from(LETTERS[index])
        });
        Self(letters.collect())
    }
}

impl fmt::Display for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = self.0.split_at(CODE_LETTERS / 2);
        write!(f, "{first}-{second}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_people_type_them() {
        let code = UserCode::parse("BCDF-GHJK").unwrap();
        assert_eq!(code.to_string(), "BCDF-GHJK");
        for same in ["bcdfghjk", " bcdf - ghjk ", "BcDf-gHjK"] {
            assert_eq!(UserCode::parse(same), Some(code.clone()), "{same}");
        }
        for other in ["", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-EFGH", "BCDF-GHJ1", "BCDF-GHJÉ"] {
            assert_eq!(UserCode::parse(other), None, "{other}");
        }
    }
}
