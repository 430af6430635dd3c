//! Process metrics of the operating system under their usual Prometheus names. They are read for
//! each scrape and absent on systems without `/proc`.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Collector of memory, CPU time and open files.
#[derive(Debug)]
pub(super) struct ProcessFigures;

impl Collector for ProcessFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut gauge = |name: &str, help: &str, value: Option<u64>| {
            let Some(value) = value.and_then(|it| i64::try_from(it).ok()) else { return Ok(()) };
            let gauge = ConstGauge::new(value);
            let kind = prometheus_client::metrics::MetricType::Gauge;
            gauge.encode(encoder.encode_descriptor(name, help, None, kind)?)
        };
        gauge("process_resident_memory_bytes", "Memory in use", resident_bytes())?;
        gauge("process_open_fds", "Open files and sockets", open_files())?;
        gauge("process_max_fds", "Files and sockets that may be open", max_files())?;
        let Some(seconds) = cpu_seconds() else { return Ok(()) };
        let kind = prometheus_client::metrics::MetricType::Counter;
        let descriptor = encoder.encode_descriptor(
            "process_cpu_seconds",
            "Processor time used, of the system too",
            None,
            kind,
        )?;
        ConstCounter::new(seconds).encode(descriptor)
    }
}

fn resident_bytes() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

fn open_files() -> Option<u64> {
    // Reading the directory opens one more file.
    Some((fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1))
}

fn max_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The process name is in parentheses and may contain spaces: count fields after it.
    let after_name = &stat[stat.rfind(')')? + 2..];
    let mut fields = after_name.split(' ').skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) as f64 / rustix::param::clock_ticks_per_second() as f64)
}
