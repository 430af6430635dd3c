//! `aloft init`: a first monitor with alerts, and a second run that finds everything.

use std::fs;

use serde_json::json;

use crate::process::Home;
use crate::target::Target;
use crate::user::User;

#[test]
fn second_run_creates_nothing() {
    let user = User::logged_in();
    let site = Target::start();
    let (url, hook) = (site.url("/"), site.url("/hook"));
    let init = ["init", &url, "--name", "Shop", "--slack", &hook];
    let first = user.done(&init);
    assert!(first.contains("`Shop`, created") && first.contains("`Slack`, created"), "{first}");
    assert!(first.contains("test     accepted by `Slack`"), "{first}");
    assert!(first.contains("success"), "{first}");
    assert!(first.contains("/w/acme/monitors/mon_"), "{first}");
    let ids = user.done(&[&init[..], &["--quiet"]].concat());
    let json = user.json(&init);
    assert_eq!(json["created"], json!([]));
    assert_eq!(json["tests"][0]["accepted"], true);
    let expected =
        format!("{}\n{}\n", text(&json["monitor"]["id"]), text(&json["channels"][0]["id"]));
    assert_eq!(ids, expected);
    assert_eq!(user.done(&["monitors", "list", "-q"]).lines().count(), 1);
    assert_eq!(user.done(&["channels", "list", "-q"]).lines().count(), 1);
    let channel = user.json(&["channels", "get", "Slack"]);
    assert_eq!(channel["notification"]["monitorIds"], json!([json["monitor"]["id"]]));
    // A paused monitor runs again, and a further channel is linked.
    user.done(&["monitors", "pause", "Shop"]);
    fs::write(user.home.path().join("hook"), format!("{}\n", site.url("/other"))).unwrap();
    let more = ["init", &url, "--discord", "@hook", "--channel", "Slack"];
    let changed = user.done(&more);
    assert!(changed.contains("`Shop`, found and changed"), "{changed}");
    assert!(
        changed.contains("`Slack`, found") && changed.contains("`Discord`, created"),
        "{changed}"
    );
}

#[test]
fn failed_step_says_how_to_continue() {
    let user = User::logged_in();
    let site = Target::start();
    let url = site.url("/");
    let why = user.refused(&["init", &url, "--slack", "nowhere"]);
    assert!(why.contains("monitor mon_"), "{why}");
    assert!(why.contains("exists; run the same command again to continue"), "{why}");
    assert!(why.contains("webhook_url"), "{why}");
    let hook = site.url("/hook");
    let continued = user.done(&["init", &url, "--slack", &hook]);
    assert!(continued.contains("`127.0.0.1`, found\n"), "{continued}");
    let refused = user.refused(&["init", "ftp://example.com", "--slack", &hook]);
    assert!(refused.contains("nothing was created"), "{refused}");
    assert!(refused.contains("is not a URL of a site"), "{refused}");
    let typo = user.refused(&["init", &url, "--channel", "Slak"]);
    assert!(typo.contains("did you mean `Slack`?"), "{typo}");
    site.flip();
    let ran = user.run(&["init", &url, "--slack", &hook]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.contains("not accepted") && ran.out.contains("aloft channels test chn_"));
    assert!(ran.out.contains("failure"), "{}", ran.out);
}

#[test]
fn unknown_settings_are_refused_before_calls() {
    let home = Home::new();
    for (args, why) in [
        (&["--set", "ntfy.token=x"][..], "needs `--ntfy`"),
        (&["--ntfy", "a", "--set", "ntfy.tokn=x"], "unknown setting `tokn`"),
        (&["--slak", "x"], "a similar argument exists: '--slack'"),
    ] {
        let ran = home.run(&[&["init", "example.com"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
}

fn text(json: &serde_json::Value) -> &str {
    json.as_str().unwrap()
}
