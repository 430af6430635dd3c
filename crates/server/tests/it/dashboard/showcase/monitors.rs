//! The monitors of the showcase: what each checks, what is wrong with it now, and when it was down.

use rules::monitor::{Check, MonitorSettings};
use rules::{MonitorId, Periodicity, Region, Tag};
use serde_json::{Value, json};

pub(super) const REGIONS: [Region; 3] = [Region::FlyAms, Region::FlyIad, Region::FlySin];

/// State of a monitor now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Now {
    Up,
    /// Slow for these minutes.
    Slow(u32),
    /// Down for these minutes.
    Down(u32),
    Paused,
}

/// A monitor.
pub(super) struct Shown {
    pub(super) name: &'static str,
    pub(super) check: Value,
    pub(super) tags: &'static str,
    pub(super) now: Now,
    /// Usual latency in milliseconds.
    pub(super) usual_ms: f64,
    /// Past outages and slow times, oldest first.
    pub(super) past: Vec<Trouble>,
}

/// A time in which a monitor was not well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Its start, in minutes before now.
    pub(super) ago: u32,
    pub(super) minutes: u32,
    pub(super) is_outage: bool,
}

/// Minutes since the first monitor went down.
pub(super) const OUTAGE: u32 = 22;

/// Name, target, tags, usual latency in milliseconds, and state of each monitor.
const MONITORS: [(&str, &str, &str, f64, Now); 15] = [
    (
        "Checkout API",
        "https://shop.acme.example/api/checkout",
        "shop, critical",
        182.0,
        Now::Down(OUTAGE),
    ),
    ("Product search", "https://search.acme.example/health", "shop", 240.0, Now::Slow(131)),
    ("Carrier rates", "https://rates.parcel.example/v2/status", "partners", 310.0, Now::Down(4)),
    ("Storefront", "https://www.acme.example/", "shop, critical", 96.0, Now::Up),
    ("Customer sign-in", "https://id.acme.example/health", "platform, critical", 121.0, Now::Up),
    ("Payments", "https://pay.acme.example/v2/health", "shop, critical", 204.0, Now::Up),
    ("Image CDN", "https://img.acme.example/pixel.png", "shop", 38.0, Now::Up),
    ("Mobile API", "https://m.acme.example/graphql", "platform", 143.0, Now::Up),
    ("Orders database", "db-1.acme.example:5432", "platform, critical", 21.0, Now::Up),
    ("Order queue", "queue.acme.example:5672", "platform", 24.0, Now::Up),
    ("Mail relay", "mail.acme.example:25", "office", 47.0, Now::Up),
    ("DNS of acme.example", "acme.example", "platform", 17.0, Now::Up),
    ("Warehouse", "https://warehouse.acme.example/", "office", 260.0, Now::Up),
    ("Developer docs", "https://docs.acme.example/", "partners", 88.0, Now::Up),
    ("Legacy shop", "https://old.acme.example/", "shop", 150.0, Now::Paused),
];

/// Monitor, days ago and minutes of each past outage.
const OUTAGES: [(&str, u32, u32); 18] = [
    ("Carrier rates", 83, 210),
    ("Checkout API", 74, 95),
    ("Storefront", 63, 44),
    ("Payments", 63, 41),
    ("Checkout API", 51, 18),
    ("Image CDN", 38, 70),
    ("Storefront", 27, 3),
    ("Carrier rates", 24, 180),
    ("Warehouse", 21, 75),
    ("Checkout API", 19, 42),
    ("Payments", 19, 38),
    ("Order queue", 19, 40),
    ("Carrier rates", 15, 55),
    ("Mail relay", 13, 26),
    ("Product search", 11, 6),
    ("Mobile API", 8, 12),
    ("Checkout API", 6, 9),
    ("Carrier rates", 3, 31),
];

/// Monitor, days ago and minutes of each time in which it was slow.
const SLOW: [(&str, u32, u32); 5] = [
    ("Checkout API", 66, 240),
    ("Product search", 44, 190),
    ("Checkout API", 35, 75),
    ("Mobile API", 30, 130),
    ("Product search", 5, 95),
];

/// Returns all monitors.
pub(super) fn shown() -> Vec<Shown> {
    let of = |all: &[(&str, u32, u32)], name: &str, is_outage: bool| -> Vec<Trouble> {
        let own = all.iter().filter(|(of, ..)| *of == name);
        own.map(|(_, days, minutes)| trouble((*days, *minutes), is_outage)).collect()
    };
    let past = |name: &str| {
        let mut all = [of(&OUTAGES, name, true), of(&SLOW, name, false)].concat();
        all.sort_by_key(|it| std::cmp::Reverse(it.ago));
        all
    };
    let monitor = |(name, target, tags, usual_ms, now)| Shown {
        name,
        check: check(target),
        tags,
        now,
        usual_ms,
        past: past(name),
    };
    MONITORS.into_iter().map(monitor).collect()
}

/// Returns a trouble at some time of its day.
const fn trouble((days, minutes): (u32, u32), is_outage: bool) -> Trouble {
    Trouble { ago: days * 1_440 + (days * 37 + minutes * 11) % 600, minutes, is_outage }
}

impl Trouble {
    /// Returns whether it lasted at this time, in minutes before now.
    pub(super) fn covers(self, ago: u32) -> bool {
        (self.ago - self.minutes..=self.ago).contains(&ago)
    }
}

/// Returns the check of a target, whose kind follows from its form.
fn check(target: &str) -> Value {
    if target.contains("://") {
        json!({ "http": { "url": target } })
    } else if target.contains(':') {
        json!({ "tcp": { "uri": target } })
    } else {
        json!({ "dns": { "uri": target } })
    }
}

/// ID of the monitor at this place of the list.
pub(super) const fn monitor_id(index: usize) -> MonitorId {
    MonitorId::from_bits(index as u64 + 1)
}

pub(super) fn settings(shown: &Shown) -> MonitorSettings {
    let check: Check = serde_json::from_value(shown.check.clone()).unwrap();
    let mut tags: Vec<Tag> = shown.tags.split(", ").map(|it| Tag::parse(it).unwrap()).collect();
    tags.sort_by_key(|tag| tag.as_str().to_lowercase());
    MonitorSettings {
        active: shown.now != Now::Paused,
        public: true,
        regions: REGIONS.to_vec(),
        tags,
        degraded_at_ms: Some(800),
        description: (shown.name == "Checkout API")
            .then(|| "Takes the orders of the shop.".to_owned()),
        ..MonitorSettings::new(shown.name, Periodicity::OneMinute, check)
    }
}
