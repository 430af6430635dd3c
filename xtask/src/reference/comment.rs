//! What a comment of the contract means: its paragraphs, which errors a method has, and whether a field is
//! required, has a default, or is an output. The words stay as they are; links are made in `prose`.

/// What is said of a method.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MethodSaid {
    pub(super) paragraphs: Vec<String>,
    pub(super) errors: Vec<Clause>,
}

/// One part of what a comment says of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// A code, and when it is answered beyond what the code says.
    Code {
        /// Such as `not_found`.
        code: String,
        /// Such as `including an ID of another workspace`; may be empty.
        when: String,
    },
    /// The errors of another method, as far as they are not named.
    As(String),
}

/// What is said of a field.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSaid {
    pub(super) given: Given,
    pub(super) text: String,
}

/// Whether a field is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Given {
    /// By the caller, always.
    Required,
    /// By the caller, or this holds: as JSON writes it.
    Default(String),
    /// By the server.
    Output,
    /// Nothing is said.
    #[default]
    Unsaid,
}

/// What begins the errors of a method.
const ERRORS: &str = "Errors: ";

/// The paragraphs of a comment, each on one line.
pub(super) fn paragraphs(comment: &str) -> Vec<String> {
    let joined = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    comment.split("\n\n").map(joined).filter(|paragraph| !paragraph.is_empty()).collect()
}

/// Reads the comment of a method.
pub(super) fn of_method(comment: &str) -> MethodSaid {
    let mut said = MethodSaid::default();
    for paragraph in paragraphs(comment) {
        let Some((before, errors)) = paragraph.split_once(ERRORS) else {
            said.paragraphs.push(paragraph);
            continue;
        };
        let (errors, after) = errors.split_once(". ").unwrap_or((errors, ""));
        said.errors = clauses(errors.trim_end_matches('.'));
        let rest = [before.trim(), after.trim()].into_iter().filter(|text| !text.is_empty());
        said.paragraphs.extend(rest.map(str::to_owned));
    }
    said
}

/// The method that another one refers to for what it does not say: `see CreateHttpMonitor`.
pub(super) fn referred(comment: &str) -> Option<&str> {
    let after = comment.split_once("; see ")?.1;
    let end = after.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(after.len());
    after[..end].starts_with(char::is_uppercase).then_some(&after[..end])
}

/// Reads the comment of a field.
pub(super) fn of_field(comment: &str) -> FieldSaid {
    let text = paragraphs(comment).join(" ");
    let (output, text) = match text.strip_prefix("Output") {
        Some(rest) => (true, rest.trim_start_matches([':', '.', ' ']).to_owned()),
        None => (false, text),
    };
    let mut given = if output { Given::Output } else { Given::Unsaid };
    let mut kept = Vec::new();
    for sentence in sentences(&text) {
        match mark(sentence) {
            Some(mark) => given = mark,
            None => kept.push(sentence),
        }
    }
    FieldSaid { given, text: capitalised(&kept.join(" ")) }
}

/// A text that begins with a capital, unless it begins with code or the name of a protocol.
pub(super) fn capitalised(text: &str) -> String {
    if text.starts_with("http") {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What a sentence says that has a column of its own.
fn mark(sentence: &str) -> Option<Given> {
    if sentence == "Required." {
        return Some(Given::Required);
    }
    let value = sentence.strip_prefix("Default ")?.strip_suffix('.')?;
    let plain = value.trim_matches('`');
    let quoted = plain.len() < value.len();
    match plain {
        "empty" if !quoted => Some(Given::Default("\"\"".to_owned())),
        word if word.contains(' ') => None,
        word if quoted => Some(Given::Default(format!("\"{word}\""))),
        word => Some(Given::Default(word.to_owned())),
    }
}

/// A text by its sentences, each with its end.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(". ") {
        found.push(&rest[..=end]);
        rest = &rest[end + 2..];
    }
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

fn clauses(errors: &str) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    for part in errors.split("; ") {
        let referred = part.strip_prefix("otherwise as ").or_else(|| part.strip_prefix("as "));
        if let Some((code, when)) = part.strip_prefix('`').and_then(|part| part.split_once('`')) {
            let when = when.trim_start_matches([',', ' ']).to_owned();
            clauses.push(Clause::Code { code: code.to_owned(), when });
        } else if let Some(method) = referred {
            clauses.push(Clause::As(method.to_owned()));
        } else if let Some(Clause::Code { when, .. }) = clauses.last_mut() {
            *when = format!("{when}; {part}");
        }
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_a_method_are_its_codes_and_those_of_another() {
        let said = of_method(
            "Changes a thing.\n\nMore of it.\nErrors: as CreateThing; `not_found`, including an ID of\n\
             another workspace; `aborted` when others\nchange it. An id that is none is no error.",
        );
        assert_eq!(
            said.paragraphs,
            ["Changes a thing.", "More of it.", "An id that is none is no error."]
        );
        let code = |code: &str, when: &str| Clause::Code { code: code.into(), when: when.into() };
        assert_eq!(
            said.errors,
            [
                Clause::As("CreateThing".into()),
                code("not_found", "including an ID of another workspace"),
                code("aborted", "when others change it"),
            ]
        );
    }

    #[test]
    fn the_marks_of_a_field_leave_its_text() {
        let read = |comment: &str| of_field(comment);
        let said = |given, text: &str| FieldSaid { given, text: text.into() };
        assert_eq!(
            read("Name of the header. Required. Names of ours\nare refused."),
            said(Given::Required, "Name of the header. Names of ours are refused.")
        );
        assert_eq!(read("Output: when it was made."), said(Given::Output, "When it was made."));
        assert_eq!(read("Verb. Default `GET`."), said(Given::Default("\"GET\"".into()), "Verb."));
        assert_eq!(read("Body. Default empty."), said(Given::Default("\"\"".into()), "Body."));
        assert_eq!(read("Most. Default 50."), said(Given::Default("50".into()), "Most."));
        assert_eq!(
            read("Hours. Default 24; 0 ends them."),
            said(Given::Unsaid, "Hours. Default 24; 0 ends them.")
        );
    }

    #[test]
    fn a_method_refers_to_another_by_its_name() {
        assert_eq!(
            referred("Creates a TCP monitor; see CreateHttpMonitor."),
            Some("CreateHttpMonitor")
        );
        assert_eq!(referred("Reads how it is; see below."), None);
    }
}
