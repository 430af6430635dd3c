//! Expressions of `--jq`, in the language of jq. Evaluates them on the JSON that a command prints. Leaves
//! the output of each result to `output`.

use jaq_core::compile::{Compiler, Undefined};
use jaq_core::load::{self, Arena, File, Loader, lex, parse};
use jaq_core::{Ctx, Vars, data, unwrap_valr};
use jaq_json::{Val, read};
use serde_json::Value as Json;

/// Longest excerpt of an expression in an error, in characters.
const EXCERPT_CHARS: usize = 24;
/// Beginnings of data in an error of an evaluation. Data may be secret.
const DATA: [char; 3] = ['{', '[', '"'];

/// An expression that can be evaluated.
#[derive(Clone, Debug)]
pub(crate) struct JqExpression(String);

type Program = jaq_core::Filter<data::JustLut<Val>>;

impl JqExpression {
    /// Parses an expression. The error names the place of the first mistake.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        compile(text).map(|_| Self(text.to_owned()))
    }

    /// Evaluates the expression and passes each result to `print`: a text as it is, everything else as
    /// JSON. Ends if `print` returns false. Fails at the first result that is an error.
    pub(crate) fn evaluate(
        &self,
        json: &Json,
        mut print: impl FnMut(&str) -> bool,
    ) -> Result<(), String> {
        let program = compile(&self.0)?;
        let input = read::parse_single(json.to_string().as_bytes());
        let input = input.map_err(|why| why.to_string())?;
        let ctx = Ctx::<data::JustLut<Val>>::new(&program.lut, Vars::new([]));
        for result in program.id.run((ctx, input)).map(unwrap_valr) {
            let value = result.map_err(|why| {
                let why = why.to_string();
                let words = why.split(DATA).next().unwrap_or_default().trim_end();
                format!("`--jq {}` failed: {words} …", self.0)
            })?;
            let text = match &value {
                Val::TStr(text) => String::from_utf8_lossy(text).into_owned(),
                Val::Null
                | Val::Bool(_)
                | Val::Num(_)
                | Val::BStr(_)
                | Val::Arr(_)
                | Val::Obj(_) => value.to_string(),
            };
            if !print(&text) {
                break;
            }
        }
        Ok(())
    }
}

fn compile(text: &str) -> Result<Program, String> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let file = File { code: text, path: () };
    let modules = Loader::new(definitions).load(&arena, file);
    let modules = modules.map_err(|errors| describe(text, errors.into_iter().map(|it| it.1)))?;
    Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        let first = errors.into_iter().flat_map(|(_, errors)| errors).next();
        let first = first.map(|(name, undefined)| unknown(text, name, &undefined));
        first.unwrap_or_else(|| "is not an expression of jq".to_owned())
    })
}

/// Describes the first error of a file.
fn describe<'a>(text: &str, mut errors: impl Iterator<Item = load::Error<&'a str>>) -> String {
    match errors.next() {
        Some(load::Error::Io(mut all)) => {
            all.pop().map(|(part, why)| format!("{why}{}", place(text, part)))
        }
        Some(load::Error::Lex(all)) => all.into_iter().next().map(|it| cannot_split(text, &it)),
        Some(load::Error::Parse(all)) => all.into_iter().next().map(|it| cannot_parse(text, &it)),
        None => None,
    }
    .unwrap_or_else(|| "is not an expression of jq".to_owned())
}

fn cannot_split(text: &str, (expected, found): &lex::Error<&str>) -> String {
    format!("expected {}{}", expected.as_str(), place(text, found))
}

fn cannot_parse(text: &str, (expected, found): &parse::Error<&str>) -> String {
    format!("expected {}{}", expected.as_str(), place(text, found))
}

fn unknown(text: &str, name: &str, undefined: &Undefined) -> String {
    format!("unknown {} `{name}`{}", undefined.as_str(), place(text, name))
}

/// Returns the place of a part of the expression, with the text from there on. Returns nothing for a part
/// that is elsewhere, such as in a definition of the library.
fn place(text: &str, part: &str) -> String {
    let offset = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    let Some(rest) = text.get(offset..) else { return String::new() };
    let column = text[..offset].chars().count() + 1;
    let excerpt: String = rest.chars().take(EXCERPT_CHARS).collect();
    if excerpt.is_empty() {
        return " at its end".to_owned();
    }
    format!(" at character {column}, before `{excerpt}`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn results(expression: &str) -> Result<Vec<String>, String> {
        let json = json!({ "monitors": [{ "name": "a\nb", "id": 1 }, { "name": "c", "id": 2.5 }] });
        let mut all = Vec::new();
        JqExpression::parse(expression)?.evaluate(&json, |text| {
            all.push(text.to_owned());
            all.len() < 5
        })?;
        Ok(all)
    }

    #[test]
    fn texts_are_raw_and_other_results_json() {
        for (expression, expected) in [
            (".monitors[].name", &["a\nb", "c"][..]),
            (".monitors | length", &["2"]),
            (".monitors[1]", &[r#"{"name":"c","id":2.5}"#]),
            (".none", &["null"]),
            (".monitors[] | select(.id > 2) | \"\\(.name)!\"", &["c!"]),
            ("[.monitors[].name | test(\"c\")]", &["[false,true]"]),
            ("empty", &[]),
            ("repeat(1)", &["1", "1", "1", "1", "1"]),
        ] {
            assert_eq!(results(expression).unwrap(), expected, "{expression}");
        }
    }

    #[test]
    fn errors_name_the_place() {
        for (expression, expected) in [
            (".monitors[", "expected closing bracket at its end"),
            (".monitors | ", "expected term at its end"),
            (".a | nmae", "unknown filter `nmae` at character 6, before `nmae`"),
            (".a | $x", "unknown variable `$x` at character 6, before `$x`"),
            ("", "expected term at its end"),
        ] {
            assert_eq!(results(expression).unwrap_err(), expected, "{expression}");
        }
        let why = results(".monitors.name").unwrap_err();
        assert_eq!(why, "`--jq .monitors.name` failed: cannot index …");
    }
}
