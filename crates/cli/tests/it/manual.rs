//! `aloft completions` and `aloft man`.

use std::fs;
use std::process::Command;

use crate::process::Home;

#[test]
fn completions_are_valid_scripts() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = home.run(&["completions", shell]);
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{shell}");
        for word in ["monitors", "expect-status", "fly-ams"] {
            assert!(ran.out.contains(word), "{shell}: {word}");
        }
        if shell == "bash" {
            fs::write(home.path().join("script"), &ran.out).unwrap();
            let mut check = Command::new("bash");
            let checked = check.arg("-n").arg(home.path().join("script")).output().unwrap();
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
    assert_eq!(home.run(&["completions", "tcsh"]).code, Some(2));
}

#[test]
fn man_writes_a_page_per_command() {
    let home = Home::new();
    let ran = home.run(&["man", "--into", "man/man1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let page = |name: &str| fs::read_to_string(home.path().join("man/man1").join(name)).unwrap();
    assert!(page("aloft.1").contains("aloft\\-monitors(1)"), "{}", page("aloft.1"));
    assert!(page("aloft-monitors-create-http.1").contains("0 to 120000"));
    fs::write(home.path().join("file"), "").unwrap();
    let refused = home.run(&["man", "--into", "file"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("creating `file`: "), "{}", refused.err);
}
