//! Tests of the syntax: positions, merge keys, and limits.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Node, String> {
    parse(&Arc::from("a.yaml"), text).map_err(|problem| problem.to_string())
}

/// Returns a node as text, with the positions of keys.
fn shown(node: &Node) -> String {
    match &node.value {
        NodeValue::Scalar(scalar) => format!("{scalar:?}"),
        NodeValue::List(nodes) => {
            format!("[{}]", nodes.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        NodeValue::Mapping(entries) => {
            let entry = |Entry { key, key_at, value }: &Entry| {
                format!("{key}@{}:{} {}", key_at.line, key_at.column, shown(value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

#[test]
fn nodes_have_positions_and_types() {
    let text = "\u{feff}a: 1\nb:\n  - 'x'\n  - yes\nc: {d: !!str 5}\n";
    let node = read(text).unwrap();
    insta::assert_snapshot!(shown(&node), @r#"{a@1:1 Integer(1, "1"), b@2:1 [Text("x"), Text("yes")], c@5:1 {d@5:5 Text("5")}}"#);
}

#[test]
fn merge_keys_add_missing_entries() {
    let text = "a: &base {x: 1, y: 2}\nb: {<<: *base, x: 3}\nc: {<<: [{z: 4}, *base], y: 5}\n";
    insta::assert_snapshot!(shown(&read(text).unwrap()), @r#"{a@1:1 {x@1:11 Integer(1, "1"), y@1:17 Integer(2, "2")}, b@2:1 {x@2:16 Integer(3, "3"), y@1:17 Integer(2, "2")}, c@3:1 {y@3:26 Integer(5, "5"), z@3:11 Integer(4, "4"), x@1:11 Integer(1, "1")}}"#);
}

#[test]
fn malformed_files_name_the_position() {
    let mut all = String::new();
    for text in [
        "a: [1\n",
        "a: 1\na: 2\n",
        "a: &x [*x]\n",
        "a: *unknown\n",
        "a: 1\n---\nb: 2\n",
        "a: !!binary abc\n",
        "[1]: 2\n",
        "a: {<<: 1}\n",
    ] {
        all += &read(text).unwrap_err();
        all += "\n";
    }
    insta::assert_snapshot!(all, @r"
    a.yaml:2:1: not YAML: while parsing a flow sequence, expected ',' or ']'
    a.yaml:2:1: has the key `a` twice; the first one is at 1:1
    a.yaml:1:8: an alias refers to a value that contains it
    a.yaml:1:4: not YAML: while parsing node, found unknown anchor
    a.yaml:3:1: has a second document; move it to a file of its own
    a.yaml:1:4: has the tag `tag:yaml.org,2002:binary`; remove it
    a.yaml:1:1: must have a text as key
    a.yaml:1:9: `<<` must be a mapping, or a list of mappings
    ");
}

#[test]
fn expanding_aliases_and_depth_are_bounded() {
    let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    let level = |level: usize| {
        let before = format!("*a{}", level - 1);
        format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(", "))
    };
    text.extend((1..9).map(level));
    let why = read(&text).unwrap_err();
    assert!(why.contains("more than 500000 values, aliases included"), "{why}");
    let why = read(&format!("{}{}", "[".repeat(40), "]".repeat(40))).unwrap_err();
    assert!(why.contains("nested deeper than 32 levels"), "{why}");
    let long = "x".repeat(100_000);
    let why = read(&format!("a: &a {long}\nb: [{}]\n", ["*a"; 400].join(", "))).unwrap_err();
    assert!(why.contains("more than 500000 values, aliases included"), "{why}");
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let why = read(&format!("a: &a {}\nb: [[[*a]]]\n", deep(28))).unwrap_err();
    assert!(why.contains("a.yaml:2:7: nested deeper than 32 levels"), "{why}");
    // The parser must not overflow the stack either.
    assert!(read(&"[".repeat(200_000)).is_err());
    assert!(read(&"- ".repeat(200_000)).is_err());
    assert!(read(&"{a: ".repeat(200_000)).is_err());
}

#[test]
fn empty_file_is_null() {
    assert_eq!(shown(&read("").unwrap()), "Null");
    assert_eq!(shown(&read("# nothing\n").unwrap()), "Null");
}

proptest! {
    #[test]
    fn written_text_reads_equal(text: String) {
        let written = scalar::written(&text);
        for file in [format!("k: {written}\n"), format!("k: {{k: {written}}}\n"), format!("[{written}]")] {
            let read = shown(&read(&file).unwrap());
            let expected = format!("{:?}", Scalar::Text(text.clone()));
            prop_assert!(read.contains(&expected), "{file}: {read}");
        }
    }

    #[test]
    fn plain_looking_text_reads_equal(text in "[a-zA-Z0-9 :#,_.+~-]{0,12}") {
        let read = shown(&read(&format!("[{}]", scalar::written(&text))).unwrap());
        prop_assert_eq!(read, format!("[{:?}]", Scalar::Text(text)));
    }

    #[test]
    fn any_text_ends_in_a_node_or_problem(text in "[a-c:\\[\\]{}&*!|>'\"%@<# \n\t-]{0,64}") {
        let _ = read(&text);
    }
}
