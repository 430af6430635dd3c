//! Measures the time until a browser paints a status page, compared with an empty page in the same
//! run: headless Chromium over loopback, controlled by Node.js as in the tests.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::Figure;
use super::super::process::Target;
use super::super::sizes::Sizes;
use super::site::{self, Site};
use crate::shell;

/// Number of components of the page.
const COUNT: usize = 30;
/// Number of visits of each page, in turns.
const LOOKS: usize = 15;
const SCRIPT: &str = "xtask/src/bench/pages/paint.mjs";

/// Median times until the first contentful paint, in milliseconds.
pub(in super::super) struct Painted {
    pub(in super::super) page: f64,
    pub(in super::super) empty: f64,
}

pub(super) fn paint(target: &Target, _: &Sizes) -> Result<Vec<Figure>> {
    let site = Site::open(target, &[COUNT])?;
    let page = format!("http://{}{}", site.service.address, site::path(COUNT));
    let Painted { page, empty } = first_paint(&page, None)?;
    site.service.stop()?;
    let figure = |what: &str, value, unit| Figure {
        name: format!("first paint: {what}"),
        monitors: Some(COUNT),
        value,
        unit,
    };
    Ok(vec![
        figure("a page", page, "ms"),
        figure("an empty page", empty, "ms"),
        figure("a page to an empty one", page / empty, "×"),
    ])
}

/// Measures the first paint of a page and of an empty one, with this cookie (`name=value`).
pub(in super::super) fn first_paint(url: &str, cookie: Option<&str>) -> Result<Painted> {
    let output = Command::new("node")
        .arg(SCRIPT)
        .arg(shell::tools().join("browser"))
        .arg(chromium()?)
        .args([&LOOKS.to_string(), url])
        .args(cookie)
        .output()
        .context("failed to start Node.js; run `cargo xtask setup`")?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the browser failed: {why}");
    let seen: Value = serde_json::from_slice(&output.stdout)?;
    Ok(Painted { page: middle(&seen["page"])?, empty: middle(&seen["empty"])? })
}

fn middle(values: &Value) -> Result<f64> {
    let values = values.as_array().context("the browser reported no times")?;
    let mut values: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    ensure!(values.len() == LOOKS, "the browser painted {} of {LOOKS} pages", values.len());
    values.sort_by(f64::total_cmp);
    Ok(values[LOOKS / 2])
}

/// Returns the path of Chromium on this machine.
fn chromium() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut programs =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    programs.find(|program| program.exists()).context("Chromium not found; run `cargo xtask setup`")
}
