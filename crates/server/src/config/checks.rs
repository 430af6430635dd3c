//! The settings of checks: default regions, and hosts for connectivity checks.

use rules::monitor::TcpCheck;
use rules::{HostPort, Region, limits};

use super::parse::items;
use super::{ConfigError, Value};

pub(super) fn regions(value: &Value) -> Result<Vec<Region>, ConfigError> {
    let invalid =
        |why| ConfigError::Invalid { name: value.setting.name, why, origin: value.origin.clone() };
    let mut regions = Vec::new();
    for word in items(&value.text) {
        let region =
            Region::parse(word).map_err(|unknown| invalid(format!("is wrong: {unknown}")))?;
        if region.is_private() {
            let why = format!("must not name `{region}`, which belongs to one workspace");
            return Err(invalid(why));
        }
        regions.push(region);
    }
    regions.sort_unstable();
    regions.dedup();
    if regions.is_empty() {
        return Err(invalid("must name one region or more: no monitor runs nowhere".to_owned()));
    }
    Ok(regions)
}

pub(super) fn connectivity_check_hosts(value: &Value) -> Result<Vec<TcpCheck>, ConfigError> {
    let invalid =
        |why| ConfigError::Invalid { name: value.setting.name, why, origin: value.origin.clone() };
    let check = |uri: &str| match HostPort::parse(uri) {
        Ok(_) => Ok(TcpCheck::new(uri)),
        Err(why) => Err(invalid(format!("{}, not `{uri}`", why.0))),
    };
    let checks = items(&value.text).map(check).collect::<Result<Vec<_>, _>>()?;
    if checks.len() > limits::CONNECTIVITY_CHECK_HOSTS_MAX {
        return Err(invalid(format!(
            "must name {} hosts at most",
            limits::CONNECTIVITY_CHECK_HOSTS_MAX
        )));
    }
    Ok(checks)
}
