//! Checks the alerts with Prometheus's own tool, and the queries of the dashboard as rules. A test of the
//! crate `server` compares the names of the metrics with `/metrics`.

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::read;
use super::uses::members;
use crate::shell;

const ALERTS: &str = "packaging/prometheus/alerts.yaml";
const TESTS: &str = "packaging/prometheus/alerts-test.yaml";
const DASHBOARD: &str = "packaging/grafana/aloft.json";
/// Variables of Grafana in queries, and a value of each.
const VARIABLES: [(&str, &str); 2] = [("$__rate_interval", "5m"), ("$instance", ".*")];

pub(super) fn check() -> Result<()> {
    shell::run("promtool", &["check", "rules", "--lint-fatal", ALERTS])?;
    shell::run("promtool", &["test", "rules", TESTS])?;
    let queries = queries(&read(DASHBOARD)?)?;
    let rules: Vec<Value> = queries
        .iter()
        .enumerate()
        .map(|(at, query)| json!({ "record": format!("query:{at}"), "expr": query }))
        .collect();
    let file = tempfile::NamedTempFile::with_suffix(".yaml")?;
    // Every JSON text is valid YAML.
    let rules = json!({ "groups": [{ "name": "dashboard", "rules": rules }] });
    fs::write(file.path(), rules.to_string())?;
    shell::run("promtool", &["check", "rules", &file.path().display().to_string()])
}

/// Returns the queries of a dashboard with values for the variables. Panels must not overlap, and their
/// IDs must differ.
fn queries(dashboard: &str) -> Result<Vec<String>> {
    let dashboard: Value = serde_json::from_str(dashboard).context("the dashboard is not JSON")?;
    let (mut ids, mut cells, mut queries) = (Vec::new(), Vec::new(), Vec::new());
    for panel in members(&dashboard["panels"]) {
        let title = panel["title"].as_str().context("a panel has no title")?;
        ids.push(panel["id"].as_u64().with_context(|| format!("{title} has no id"))?);
        let place = |name: &str| panel["gridPos"][name].as_u64().unwrap_or_default();
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                cells.push((x, y));
            }
        }
        for target in members(&panel["targets"]) {
            let query = target["expr"].as_str().with_context(|| format!("{title} has no query"))?;
            let filled = VARIABLES
                .iter()
                .fold(query.to_owned(), |it, (name, value)| it.replace(name, value));
            if filled.contains('$') {
                bail!("the query `{query}` of `{title}` has an unknown variable");
            }
            queries.push(filled);
        }
    }
    let (panels, taken) = (ids.len(), cells.len());
    ids.sort_unstable();
    ids.dedup();
    cells.sort_unstable();
    cells.dedup();
    if ids.len() != panels || cells.len() != taken || cells.iter().any(|(x, _)| *x >= 24) {
        bail!("two panels have the same id or overlap, or a panel is wider than the dashboard");
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dashboard(second: &Value) -> String {
        let first = json!({ "id": 1, "title": "a", "gridPos": { "x": 0, "y": 0, "w": 8, "h": 7 },
            "targets": [{ "expr": "rate(a{b=~\"$instance\"}[$__rate_interval])" }] });
        json!({ "panels": [first, second] }).to_string()
    }

    #[test]
    fn faulty_panels_are_found() {
        let good = json!({ "id": 2, "title": "b", "gridPos": { "x": 8, "y": 0, "w": 8, "h": 7 } });
        assert_eq!(queries(&dashboard(&good)).unwrap(), ["rate(a{b=~\".*\"}[5m])"]);
        let (mut same, mut over, mut unknown) = (good.clone(), good.clone(), good);
        same["id"] = json!(1);
        over["gridPos"]["x"] = json!(7);
        unknown["targets"] = json!([{ "expr": "up{a=\"$b\"}" }]);
        for bad in [same, over, unknown] {
            assert!(queries(&dashboard(&bad)).is_err(), "{bad}");
        }
    }
}
