//! Validates the files that pages ask readers to save, with the programs that read them: the
//! server, systemd, nginx, Caddy, TypeScript's compiler and mypy. The `terraform` commands of the pages
//! validate HCL.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::build;
use crate::environment::World;

/// Strict compiler options of TypeScript, without output files.
const STRICTLY: [&str; 10] = [
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--types",
    "node",
];
/// Path of nginx on Debian-based systems, which is not on most users' `PATH`.
const NGINX: &str = "/usr/sbin/nginx";

/// Validates a file with the program for its language.
pub(crate) fn must_be_read(world: &World, place: &str, language: &str, file: &Path) {
    match language {
        "toml" => {
            let mut aloft = Command::new(env!("CARGO_BIN_EXE_aloft"));
            must_take(place, aloft.args(["config", "--config"]).arg(file));
        }
        "ini" => {
            let mut systemd = Command::new("systemd-analyze");
            must_take(place, systemd.args(["verify", "--man=no"]).arg(file));
        }
        "caddyfile" => {
            let mut caddy = Command::new("caddy");
            caddy.args(["validate", "--adapter", "caddyfile", "--config"]).arg(file);
            must_take(place, caddy.env("HOME", world.path("home")).env_remove("XDG_DATA_HOME"));
        }
        "nats" => {
            must_take(place, Command::new(testkit::nats::program()).arg("-t").arg("-c").arg(file));
        }
        "nginx" => must_be_nginx(world, place, file),
        "json" => {
            let text = fs::read_to_string(file).unwrap();
            let read: Result<serde_json::Value, _> = serde_json::from_str(&text);
            read.unwrap_or_else(|why| panic!("{place}: {why}"));
        }
        _ => {}
    }
}

/// Validates a site for nginx by including it. The listening address becomes a socket file here.
fn must_be_nginx(world: &World, place: &str, file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    let socket = format!("listen unix:{} ", world.path("tmp/nginx").display());
    fs::write(file, text.replace("listen 443 ", &socket)).unwrap();
    let whole = world.path("tmp/nginx.conf");
    let tmp = world.path("tmp").display().to_string();
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {tmp}/{name};"));
    let around = format!(
        "pid {tmp}/nginx.pid; error_log stderr; events {{}}\nhttp {{ access_log off; {} include {}; }}\n",
        places.join(" "),
        file.display()
    );
    fs::write(&whole, around).unwrap();
    let mut nginx = Command::new(NGINX);
    must_take(place, nginx.args(["-t", "-c"]).arg(whole));
}

/// Type-checks the programs of a page in the folder in which the client is installed.
pub(crate) fn must_be_typed(world: &World, programs: &[String]) {
    let is_python = |program: &&String| Path::new(program).extension().is_some_and(|it| it == "py");
    let (python, typescript): (Vec<_>, Vec<_>) = programs.iter().partition(is_python);
    if !python.is_empty() {
        let mut mypy = Command::new(testkit::tools::python_of_client());
        mypy.current_dir(world.work()).args(["-m", "mypy", "--strict", "--python-executable"]);
        must_take("programs in Python", mypy.arg(".venv/bin/python").args(python));
    }
    if !typescript.is_empty() {
        must_be_typescript(world, &typescript);
    }
}

fn must_be_typescript(world: &World, programs: &[&String]) {
    let modules = Path::new(build::CLIENT).join("node_modules");
    let mut compiler = Command::new("node");
    compiler.current_dir(world.work()).arg(modules.join("typescript/bin/tsc")).args(STRICTLY);
    compiler.arg("--typeRoots").arg(modules.join("@types"));
    for program in programs {
        let file = world.work().join(program);
        let typed = file.with_extension("mts");
        fs::copy(file, &typed).unwrap();
        compiler.arg(typed);
    }
    must_take("programs in TypeScript", &mut compiler);
}

fn must_take(place: &str, command: &mut Command) {
    let Output { status, stdout, stderr } = command
        .output()
        .unwrap_or_else(|why| panic!("{place}: {command:?}: {why}; run `cargo xtask setup`"));
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{place}: {command:?}\n{out}{err}");
}
