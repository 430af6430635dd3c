//! Tests of the tokens of each language.

use super::*;

fn coloured(grammars: &Grammars, language: &str, code: &str) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for token in grammars.tokens(language, code).unwrap() {
        let text = &code[at..at + token.length];
        at += token.length;
        match token.kind.class() {
            '.' => out.push_str(text),
            class => write!(out, "[{class} {text}]").unwrap(),
        }
    }
    out
}

#[test]
fn known_tokens_are_highlighted() {
    let grammars = Grammars::load();
    for (language, code, colours) in [
        ("json", r#"{"a": [1, true, "b"]}"#, r#"{[k "a"]: [[n 1], [w true], [s "b"]]}"#),
        (
            "sh",
            r#"KEY=x curl -d '{"a":1}' # c"#,
            r#"[k KEY]=x curl -d [s ']{[k "a"]:[n 1]}[s '] [c # c]"#,
        ),
        ("sh", "curl http://127.0.0.1:8080/#x $#", "curl http://127.0.0.1:8080/#x $#"),
        (
            "terraform",
            "resource \"x\" \"y\" {\n  a = 1 # c\n}",
            "[w resource] [s \"x\"] [s \"y\"] {\n  [k a] = [n 1] [c # c]\n}",
        ),
        ("ts", "const a = { url: \"x\" }; // c", "[w const] a = { [k url]: [s \"x\"] }; [c // c]"),
        ("ts", "client.from(x)", "client.from(x)"),
        ("toml", "public_url = \"x\"", "[k public_url] = [s \"x\"]"),
        ("yaml", "a: 1 # c", "[k a]: [n 1] [c # c]"),
    ] {
        assert_eq!(coloured(&grammars, language, code), colours, "{language}: {code}");
    }
    let plain = Token { kind: TokenKind::Plain, length: 11 };
    assert_eq!(grammars.tokens("", "a = 'b' # 1").unwrap(), [plain]);
}

#[test]
fn tokens_are_the_whole_code() {
    let grammars = Grammars::load();
    for language in ["sh", "ts", "json", "hcl", "toml", "yaml", "nginx", ""] {
        for code in
            ["\"open", "it's", "ä = \"ö\\\"\" // ü", "`a\nb`", "'\\", "#", "//", "=", ":", ""]
        {
            let tokens = grammars.tokens(language, code).unwrap();
            let length: usize = tokens.iter().map(|token| token.length).sum();
            assert_eq!(length, code.len(), "{language}: {code}");
        }
    }
}

#[test]
fn examples_in_the_file_keep_their_tokens() {
    let examples = BTreeSet::from([("json".to_owned(), "1".to_owned())]);
    let first = file(&examples, "").unwrap();
    assert_eq!(first, format!("{HEAD}\n{} n1\n", hash("1")));
    let changed = first.replace(" n1", " .1");
    assert_eq!(file(&examples, &changed).unwrap(), changed);
    assert_eq!(file(&examples, &changed.replace("version", "revision")).unwrap(), first);
}

#[test]
fn examples_are_found_with_their_languages() {
    let text = "```sh local\na\n\n```\n\n1. x\n   ```json\n   {}\n   ```\n";
    let expected = [("sh", "a"), ("json", "{}")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(examples_in(text), expected);
}
