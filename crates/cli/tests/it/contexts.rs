//! `aloft login`, `aloft logout` and `aloft context`: which key is stored where, and which service a
//! command calls.

use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use testkit::browser::{Browser, View};
use testkit::person::PASSWORD;

use crate::first_steps::setup_path;
use crate::process::{Home, Ran};
use crate::user::{Dialogue, User};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn login_stores_the_key_for_later_commands() {
    let user = User::new();
    let refused = user.refused(&["monitors", "list", "--base-url", &user.url()]);
    assert!(refused.contains("no API key; log in with `aloft login`, or set"), "{refused}");
    let login = ["login", "--base-url", &user.url()];
    let ran = user.run_with_input(&login, &format!("{}\n", user.key));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("logged in to Acme with key_"), "{}", ran.out);
    assert!(ran.out.ends_with(" (write); the context `acme` is in use\n"), "{}", ran.out);
    let file = user.contexts();
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    for args in [&["monitors", "list"][..], &["incidents", "list"], &["terraform", "export"]] {
        let ran = user.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        assert_eq!(ran.place, format!("service: {} (context acme)\n", user.url()));
    }
    let listed = user.done(&["context", "list"]) + &user.done(&["context", "list", "--json"]);
    assert!(listed.contains("*     acme     acme       key_"), "{listed}");
    assert!(!listed.contains(&user.key) && !ran.out.contains(&user.key));
}

#[test]
fn unusable_key_is_not_stored() {
    let user = User::new();
    let url = user.url();
    let login = |base_url: &str, input: &str| {
        let ran = user.run_with_input(&["login", "--base-url", base_url], input);
        assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{input}");
        ran.err
    };
    for (base_url, input, why) in [
        (&*url, "aloft_unknown\n", "unknown API key"),
        (&url, "", "no key on standard input"),
        (&url, " \nsecond line", "no key on standard input"),
        (&url, "schl\u{fc}ssel\n", "invalid character in the key"),
        ("nowhere", "key", "`nowhere` is not a base URL"),
        // Nothing listens on this port.
        ("http://127.0.0.1:1/rpc", "key", "cannot connect: "),
    ] {
        let refused = login(base_url, input);
        assert!(refused.contains(why), "{input}: {refused}");
    }
    assert!(!user.contexts().exists());
    let argument = user.run(&["login", &user.key]);
    assert_eq!(argument.code, Some(2), "{}", argument.err);
}

#[test]
fn prompt_for_the_key_hides_it() {
    let user = User::new();
    let dialogue = Dialogue { prompt: "API key (hidden): ", answer: &user.key };
    let ran = user.run_on_terminal(&["login", "--with-key", "--base-url", &user.url()], &dialogue);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("logged in to Acme") && !ran.out.contains(&user.key), "{}", ran.out);
    let host = user.url().replace("/rpc", "");
    let advice = format!("Create a key in the dashboard, {host}, in the settings");
    assert!(ran.out.contains(&advice), "{}", ran.out);
}

#[test]
fn interrupted_prompt_stores_nothing() {
    let user = User::new();
    let dialogue = Dialogue { prompt: "API key (hidden): ", answer: "aloft_\u{3}" };
    let ran = user.run_on_terminal(&["login", "--with-key", "--base-url", &user.url()], &dialogue);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!((ran.out + &ran.err).contains("interrupted"));
    assert!(!user.contexts().exists());
}

#[test]
fn flags_precede_environment_and_context() {
    let user = User::logged_in();
    let list = ["monitors", "list"];
    let place = |args: &[&str], variables: &[(&str, &str)]| {
        let ran = user.run_with(&[&list[..], args].concat(), variables);
        (ran.code, ran.place.replace(&user.url(), "URL"), ran.err.replace(&user.url(), "URL"))
    };
    let other = ("SERVICE_API_URL", "http://127.0.0.1:1/rpc");
    let (code, service, why) = place(&[], &[other]);
    assert_eq!((code, &*service), (Some(1), "service: http://127.0.0.1:1/rpc\n"));
    // The key of a context goes to no other address.
    assert!(
        why.contains("no API key for this address: the context `acme` is for another"),
        "{why}"
    );
    let (code, service, _) = place(&["--base-url", &user.url()], &[other]);
    assert_eq!((code, &*service), (Some(0), "service: URL (context acme)\n"));
    // A key of the environment goes to no address of a context.
    let wrong = ("SERVICE_API_KEY", "aloft_unknown");
    let (code, service, _) = place(&[], &[wrong, ("ALOFT_LISTEN", "127.0.0.1:1")]);
    assert_eq!((code, &*service), (Some(1), "service: http://127.0.0.1:1/rpc\n"));
    let (code, service, _) = place(&["--context", "acme"], &[other, wrong]);
    assert_eq!((code, &*service), (Some(0), "service: URL (context acme)\n"));
    let (code, _, why) = place(&["--context", "acmee"], &[]);
    assert_eq!(code, Some(1));
    assert!(why.contains("context `acmee` not found; did you mean `acme`?"), "{why}");
    let (code, ..) = place(&["--context", "acme", "--base-url", "http://127.0.0.1:1"], &[]);
    assert_eq!(code, Some(2));
}

#[test]
fn file_that_others_read_is_refused() {
    let user = User::logged_in();
    let file = user.contexts();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    for args in [&["monitors", "list"][..], &["context", "list"], &["logout"], &["login"]] {
        let why = user.home.masked(&user.refused(args));
        assert!(why.contains("its mode 640 lets others read it"), "{args:?}: {why}");
        assert!(why.contains("run `chmod 600 '[home]/.config/aloft/contexts.json'`"), "{why}");
    }
    // A key of the environment needs no file, and no home.
    let url = user.url();
    let given = [("SERVICE_API_URL", &*url), ("SERVICE_API_KEY", &*user.key)];
    assert_eq!(user.run_with(&["monitors", "list"], &given).code, Some(0));
    let listen = url.trim_start_matches("http://").trim_end_matches("/rpc");
    for home in [&*user.home.path().display().to_string(), "/dev/null"] {
        let key = ("SERVICE_API_KEY", &*user.key);
        let given = [key, ("ALOFT_LISTEN", listen), ("HOME", home)];
        let ran = user.run_with(&["monitors", "list"], &given);
        assert_eq!(ran.code, Some(0), "{home}: {}", ran.err);
    }
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    user.done(&["monitors", "list"]);
    fs::write(&file, format!("{{\"contexts\": [{{\"key\": \"{}\" 1", user.key)).unwrap();
    let why = user.refused(&["monitors", "list"]);
    assert!(why.contains("contexts.json` is damaged at line 1, column"), "{why}");
    assert!(!why.contains(&user.key), "{why}");
}

#[test]
fn contexts_are_selected_and_removed() {
    let user = User::logged_in();
    let read = user.home.new_key(&["--scope", "read"]);
    let read = read["key"].as_str().unwrap();
    let login = ["login", "--base-url", &user.url(), "--context", "reader"];
    let ran = user.run_with_input(&login, read);
    assert!(ran.out.contains(" (read); the context `reader` is in use"), "{}", ran.out);
    let current = || user.json(&["context", "list"])["current"].clone();
    assert_eq!(current(), json!("reader"));
    let create = ["reports", "templates", "create", "--name", "Mail", "--text", "We look."];
    let why = user.refused(&create);
    assert!(why.contains("read-only") || why.contains("scope"), "{why}");
    assert_eq!(
        user.done(&["context", "use", "acme"]).replace(&user.url(), "URL"),
        "the context `acme` for URL is in use\n"
    );
    user.done(&create);
    let removed = user.run(&["context", "remove", "reader"]);
    assert_eq!(removed.out, "removed the context `reader`\n");
    assert!(removed.err.contains("`aloft keys revoke key_"), "{}", removed.err);
    assert_eq!(current(), json!("acme"));
    user.done(&["logout"]);
    assert_eq!(current(), json!(null));
    let why = user.refused(&["logout"]);
    assert!(why.contains("no context is in use"), "{why}");
    let why = user.refused(&["context", "use", "acme"]);
    assert!(why.contains("`aloft login` stores the first one"), "{why}");
}

#[test]
fn revoked_key_is_replaced_by_login() {
    let user = User::logged_in();
    let key = user.json(&["context", "list"])["contexts"][0]["keyId"].clone();
    let revoked = user.home.run(&["keys", "revoke", key.as_str().unwrap()]);
    assert_eq!(revoked.code, Some(0), "{}", revoked.err);
    let why = user.refused(&["monitors", "list"]);
    assert!(why.contains("`aloft login --context acme` replaces the key"), "{why}");
    let key = user.home.new_key(&["--scope", "write"]);
    let file = user.home.path().join("key");
    fs::write(&file, key["key"].as_str().unwrap()).unwrap();
    // The name of a context precedes the environment.
    let mut login = user.command(&["login", "--context", "acme"]);
    login.env("SERVICE_API_URL", "http://127.0.0.1:1/rpc").stdin(File::open(file).unwrap());
    let ran = Ran::from(login.output().unwrap());
    assert_eq!((ran.code, ran.place), (Some(0), format!("service: {}\n", user.url())));
    user.done(&["monitors", "list"]);
}

#[test]
fn login_without_home_names_the_variables() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    let mut command = home.command(&["login", "--base-url"]);
    command.arg(format!("http://{}/rpc", server.address));
    let file = home.path().join("key");
    fs::write(&file, key).unwrap();
    let output = command.stdin(File::open(file).unwrap()).output().unwrap();
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{why}");
    assert!(why.contains("set HOME or XDG_CONFIG_HOME to an absolute path"), "{why}");
}

// issue 20, point 2: "`aloft login` (browser code flow through the dashboard, or a key)"
#[tokio::test(flavor = "multi_thread")]
async fn login_in_the_browser_stores_the_key() {
    let home = Home::new();
    let server = home.serve();
    let origin = format!("http://{}", server.address);
    let browser = Browser::start().await;
    let tab = browser.open(&origin, View::DESKTOP, None).await;
    assert_eq!(tab.visit(&setup_path(&server)).await, 200);
    for (id, value) in [("name", "Ada"), ("email", "ada@example.com"), ("workspace", "Acme")] {
        tab.fill(&format!("#{id}"), value).await;
    }
    tab.fill("#password", PASSWORD).await;
    tab.click("main form button.primary").await;
    let mut command = home.command(&["login", "--web", "--base-url", &format!("{origin}/rpc")]);
    command.env("HOME", home.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut login = command.spawn().unwrap();
    let mut lines = BufReader::new(login.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.starts_with("Open http")).unwrap();
    let (address, code) = line["Open ".len()..].split_once(" and compare the code: ").unwrap();
    assert_eq!(tab.visit(address.strip_prefix(&origin).unwrap()).await, 200);
    let shown = tab.text("document.querySelector('.device-code').innerText").await;
    assert_eq!(shown.trim(), code);
    tab.click("main form button.primary").await;
    let ran = Ran::from(login.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", lines.collect::<Vec<_>>().join("\n"));
    assert!(ran.out.contains("logged in to Acme with key_"), "{}", ran.out);
    let mut list = home.command(&["keys", "list"]);
    let listed = Ran::from(list.env("HOME", home.path()).output().unwrap());
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    assert!(listed.out.contains("aloft login on "), "{}", listed.out);
    tab.close().await;
}

#[test]
fn login_in_the_browser_needs_the_server() {
    let user = User::new();
    let elsewhere = ["login", "--web", "--base-url", "http://127.0.0.1:1/rpc"];
    assert!(user.refused(&elsewhere).contains("cannot connect"));
    let both = user.run(&["login", "--web", "--with-key"]);
    assert_eq!(both.code, Some(2), "{}", both.err);
}
