//! Interprets comments of the contract: paragraphs, the errors of a method, and whether a field is
//! required, has a default, or is an output. Does not change the words. `prose` adds links.

/// Content of a method's comment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MethodDoc {
    pub(super) paragraphs: Vec<String>,
    pub(super) errors: Vec<Clause>,
}

/// A part of a comment about errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// A code, and a condition beyond the code's meaning.
    Code {
        /// Code, such as `not_found`.
        code: String,
        /// Such as `including an ID of another workspace`; may be empty.
        when: String,
    },
    /// The errors of another method, unless listed here.
    As(String),
}

/// Content of a field's comment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FieldDoc {
    pub(super) given: Given,
    pub(super) text: String,
}

/// Source of a field's value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Given {
    /// Always the caller.
    Required,
    /// The caller, or else this default in JSON.
    Default(String),
    /// The server.
    Output,
    /// Not specified.
    #[default]
    Unspecified,
}

/// Text before the errors of a method.
const ERRORS: &str = "Errors: ";

/// Returns the paragraphs of a comment, each on one line.
pub(super) fn paragraphs(comment: &str) -> Vec<String> {
    let joined = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    comment.split("\n\n").map(joined).filter(|paragraph| !paragraph.is_empty()).collect()
}

/// Parses the comment of a method.
pub(super) fn parse_method(comment: &str) -> MethodDoc {
    let mut doc = MethodDoc::default();
    for paragraph in paragraphs(comment) {
        let Some((before, errors)) = paragraph.split_once(ERRORS) else {
            doc.paragraphs.push(paragraph);
            continue;
        };
        let (errors, after) = errors.split_once(". ").unwrap_or((errors, ""));
        doc.errors = clauses(errors.trim_end_matches('.'));
        let rest = [before.trim(), after.trim()].into_iter().filter(|text| !text.is_empty());
        doc.paragraphs.extend(rest.map(str::to_owned));
    }
    doc
}

/// Returns the method to which a comment refers for the rest: `see CreateHttpMonitor`.
pub(super) fn referenced_method(comment: &str) -> Option<&str> {
    let after = comment.split_once("; see ")?.1;
    let end = after.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(after.len());
    after[..end].starts_with(char::is_uppercase).then_some(&after[..end])
}

/// Parses the comment of a field.
pub(super) fn parse_field(comment: &str) -> FieldDoc {
    let text = paragraphs(comment).join(" ");
    let (output, text) = match text.strip_prefix("Output") {
        Some(rest) => (true, rest.trim_start_matches([':', '.', ' ']).to_owned()),
        None => (false, text),
    };
    let mut given = if output { Given::Output } else { Given::Unspecified };
    let mut kept = Vec::new();
    for sentence in sentences(&text) {
        match mark(sentence) {
            Some(mark) => given = mark,
            None => kept.push(sentence),
        }
    }
    FieldDoc { given, text: capitalised(&kept.join(" ")) }
}

/// Capitalizes a text, unless it begins with code or the name of a protocol.
pub(super) fn capitalised(text: &str) -> String {
    if text.starts_with("http") {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the meaning of a sentence that has its own column.
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

/// Splits a text into sentences, each with its end.
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
    fn method_errors_include_those_of_another_method() {
        let doc = parse_method(
            "Changes a thing.\n\nMore of it.\nErrors: as CreateThing; `not_found`, including an ID of\n\
             another workspace; `aborted` when others\nchange it. An id that is none is no error.",
        );
        assert_eq!(
            doc.paragraphs,
            ["Changes a thing.", "More of it.", "An id that is none is no error."]
        );
        let code = |code: &str, when: &str| Clause::Code { code: code.into(), when: when.into() };
        assert_eq!(
            doc.errors,
            [
                Clause::As("CreateThing".into()),
                code("not_found", "including an ID of another workspace"),
                code("aborted", "when others change it"),
            ]
        );
    }

    #[test]
    fn field_marks_are_removed_from_its_text() {
        let read = |comment: &str| parse_field(comment);
        let doc = |given, text: &str| FieldDoc { given, text: text.into() };
        assert_eq!(
            read("Name of the header. Required. Names of ours\nare refused."),
            doc(Given::Required, "Name of the header. Names of ours are refused.")
        );
        assert_eq!(read("Output: when it was made."), doc(Given::Output, "When it was made."));
        assert_eq!(read("Verb. Default `GET`."), doc(Given::Default("\"GET\"".into()), "Verb."));
        assert_eq!(read("Body. Default empty."), doc(Given::Default("\"\"".into()), "Body."));
        assert_eq!(read("Most. Default 50."), doc(Given::Default("50".into()), "Most."));
        assert_eq!(
            read("Hours. Default 24; 0 ends them."),
            doc(Given::Unspecified, "Hours. Default 24; 0 ends them.")
        );
    }

    #[test]
    fn method_reference_is_found_by_name() {
        assert_eq!(
            referenced_method("Creates a TCP monitor; see CreateHttpMonitor."),
            Some("CreateHttpMonitor")
        );
        assert_eq!(referenced_method("Reads how it is; see below."), None);
    }
}
