//! `aloft config`: effective settings and their sources.

use std::fs;

use crate::process::Home;

#[test]
fn flags_override_environment_which_overrides_file() {
    // spec of the command: issue 3, point 9
    let home = Home::new();
    fs::write(
        home.path().join("aloft.toml"),
        "listen = '127.0.0.1:3'\nretention_days = 7\nlog_level = 'warn'\ndefault_regions = ['fly-ams', 'fly-iad']\n",
    )
    .unwrap();
    let variables = [
        ("ALOFT_LISTEN", "127.0.0.1:2"),
        ("ALOFT_LOG_LEVEL", "debug"),
        ("ALOFT_MASTER_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ];
    let shown = home.run_with(&["config", "--listen", "127.0.0.1:1"], &variables);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    // The width of the columns depends on all settings.
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (default, set): (Vec<_>, Vec<_>) =
        shown.out.lines().map(words).partition(|line| line.ends_with(" default"));
    insta::assert_snapshot!(home.masked(&set.join("\n")), @"
    listen 127.0.0.1:1 --listen
    data [home]/data ALOFT_DATA
    default_regions fly-ams,fly-iad [home]/aloft.toml
    retention_days 7 [home]/aloft.toml
    log_level debug ALOFT_LOG_LEVEL
    master_key … ALOFT_MASTER_KEY
    ");
    assert!(default.contains(&"nameservers - default".to_owned()), "{default:?}");
}

#[test]
fn unknown_key_in_file_is_rejected_by_name() {
    let home = Home::new();
    fs::write(home.path().join("aloft.toml"), "listn = '127.0.0.1:3'\n").unwrap();
    for command in ["config", "serve"] {
        let refused = home.run(&[command]);
        assert_eq!(refused.code, Some(1), "{command}");
        assert!(
            home.masked(&refused.err).starts_with(
                "error: unknown setting `listn` (from `[home]/aloft.toml` at line 1, column 1); did \
                 you mean `listen`?"
            ),
            "{command}: {}",
            refused.err
        );
    }
}

#[test]
fn named_configuration_file_must_exist() {
    let home = Home::new();
    let refused = home.run(&["config", "--config", "nowhere.toml"]);
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(home.masked(&refused.err), @"error: the configuration file `[home]/nowhere.toml` cannot be read: No such file or directory (os error 2)");
}
