//! The live view as a person sees it: keys are pressed, and the screen is compared.

use std::fmt::Write as _;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;
use rules::{MonitorKind, Timestamp};

use super::draw::draw;
use super::fleet::{
    Cause, RecentCheck, RegionState, WatchedIncident, WatchedMonitor, WatchedStatus,
};
use super::source::News;
use super::style::Palette;
use super::view::{Action, View};

const NOW: i64 = 1_795_800_000_000;

struct WatchFixture {
    view: View,
    terminal: Terminal<TestBackend>,
}

impl WatchFixture {
    fn start(width: u16, height: u16) -> Self {
        let view = View::new("acme at localhost:8080".to_owned(), String::new());
        Self { view, terminal: Terminal::new(TestBackend::new(width, height)).unwrap() }
    }

    /// Starts with a few monitors, one of them broken.
    fn with_fleet() -> Self {
        let mut fixture = Self::start(80, 18);
        let monitors = vec![
            monitor("mon_1", "API", WatchedStatus::Up),
            monitor("mon_2", "Shop", WatchedStatus::Down),
            monitor("mon_3", "Docs", WatchedStatus::Paused),
            monitor("mon_4", "Mail", WatchedStatus::Degraded),
        ];
        fixture.list(monitors, vec![incident(None)]);
        let region = |region: &str, status: &str| RegionState {
            region: region.to_owned(),
            status: status.to_owned(),
            latency_ms: Some(12),
            checked_at: Some(before(5)),
        };
        let cause = Cause {
            since: Some(before(720)),
            regions: vec![
                region("fly-ams", "error"),
                region("fly-iad", "error"),
                region("fly-sin", "active"),
            ],
            why: "connection refused".to_owned(),
        };
        fixture.view.on_news(News::Cause { monitor: "mon_2".to_owned(), cause });
        let check = |seconds, outcome: &str, latency_us| RecentCheck {
            at: Some(before(seconds)),
            region: "fly-ams".to_owned(),
            outcome: outcome.to_owned(),
            latency_us,
            code: (outcome == "success").then_some(200),
        };
        let checks = vec![
            check(30, "failure", 900),
            check(60, "success", 90_000),
            check(90, "success", 20_000),
        ];
        fixture.view.on_news(News::Recent { monitor: "mon_2".to_owned(), checks });
        fixture
    }

    fn list(&mut self, monitors: Vec<WatchedMonitor>, incidents: Vec<WatchedIncident>) {
        let read_at = Timestamp::from_millis(NOW);
        self.view.on_news(News::Fleet { monitors, incidents, read_at });
        self.screen();
    }

    fn press(&mut self, code: KeyCode) -> Option<Action> {
        let action = self.view.on_key(KeyEvent::from(code));
        self.screen();
        action
    }

    fn type_text(&mut self, text: &str) {
        for character in text.chars() {
            assert_eq!(self.press(KeyCode::Char(character)), None);
        }
    }

    /// Draws the view and returns its lines. The selected one begins with `>`.
    fn screen(&mut self) -> String {
        let palette = Palette { is_coloured: true };
        let view = &mut self.view;
        let now = Timestamp::from_millis(NOW);
        self.terminal.draw(|frame| draw(frame, view, palette, now)).unwrap();
        let buffer = self.terminal.backend().buffer();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let line: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
            let is_selected = buffer[(0, y)].modifier.contains(ratatui::style::Modifier::REVERSED);
            let mark = if is_selected { '>' } else { ' ' };
            writeln!(text, "{}", format!("{mark}{line}").trim_end()).unwrap();
        }
        text
    }
}

fn before(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW - seconds * 1_000)
}

fn monitor(id: &str, name: &str, status: WatchedStatus) -> WatchedMonitor {
    let target = format!("https://{}.example.com/", name.to_lowercase());
    WatchedMonitor::new(
        Some(id),
        Some(name),
        (MonitorKind::Http, &target),
        status,
        &["web".to_owned()],
    )
}

fn incident(by: Option<&str>) -> WatchedIncident {
    WatchedIncident {
        id: "inc_1jr69".to_owned(),
        monitor: "mon_2".to_owned(),
        name: "Shop".to_owned(),
        opened_at: Some(before(720)),
        acknowledged_by: by.map(str::to_owned),
    }
}

#[test]
fn broken_monitors_are_first() {
    let mut fixture = WatchFixture::with_fleet();
    insta::assert_snapshot!(fixture.screen(), @r"
     acme at localhost:8080  1 down  1 degraded  1 up  1 paused              17:20:00
     STATUS     MONITOR             FOR   RECENT       WHERE AND WHY
    >✕ down     Shop                12m   ▂█×          fly-ams +1: connection refused
     ! degraded Mail                                   https://mail.example.com/
     ✓ up       API                                    https://api.example.com/
     - paused   Docs                                   https://docs.example.com/









     1 open incident
     inc_1jr69           12m  Shop
     ↑↓ select  ⏎ details  / filter  a acknowledge  r check  q quit
    ");
}

#[test]
fn details_show_regions_and_recent_checks() {
    let mut fixture = WatchFixture::with_fleet();
    fixture.press(KeyCode::Enter);
    insta::assert_snapshot!(fixture.screen(), @r"
     acme at localhost:8080  1 down  1 degraded  1 up  1 paused              17:20:00
     Shop (mon_2)
     ✕ down for 12m
     http https://shop.example.com/
     incident inc_1jr69, not acknowledged
     why: connection refused

     ▂█×
     fly-ams    error         12 ms  5s ago
     fly-iad    error         12 ms  5s ago
     fly-sin    active        12 ms  5s ago

     CHECKED (UTC)   REGION    OUTCOME    LATENCY  CODE
     11-27 17:19:30  fly-ams   failure       1 ms
     11-27 17:19:00  fly-ams   success      90 ms   200
     1 open incident
     inc_1jr69           12m  Shop
     esc back  ↑↓ other monitor  a acknowledge  r check  q quit
    ");
    fixture.press(KeyCode::Down);
    assert!(fixture.screen().contains("Mail (mon_4)"));
    fixture.press(KeyCode::Esc);
    assert!(fixture.screen().contains(">! degraded Mail"), "{}", fixture.screen());
}

#[test]
fn filter_applies_while_typing() {
    let mut fixture = WatchFixture::with_fleet();
    fixture.type_text("/web UP");
    let screen = fixture.screen();
    assert!(screen.contains("API") && !screen.contains("Mail"), "{screen}");
    assert!(screen.contains("filter: web UP_   1 of 4"), "{screen}");
    fixture.type_text("q");
    assert!(fixture.screen().contains("no monitor matches the filter"));
    fixture.press(KeyCode::Backspace);
    fixture.press(KeyCode::Enter);
    assert!(
        fixture.screen().contains("filter: web UP (1 of 4, esc clears)"),
        "{}",
        fixture.screen()
    );
    fixture.press(KeyCode::Esc);
    assert!(fixture.screen().contains("Mail"));
}

#[test]
fn acknowledgement_needs_a_confirmation() {
    let mut fixture = WatchFixture::with_fleet();
    assert_eq!(fixture.press(KeyCode::Char('a')), None);
    assert!(fixture.screen().contains("acknowledge the incident of `Shop`? y/n"));
    assert_eq!(fixture.press(KeyCode::Char('n')), None);
    fixture.press(KeyCode::Char('a'));
    let action = fixture.press(KeyCode::Char('y'));
    assert_eq!(action, Some(Action::Acknowledge { incident: "inc_1jr69".to_owned() }));
    fixture.view.on_news(News::Acknowledged(incident(Some("Ada"))));
    let screen = fixture.screen();
    assert!(screen.contains("acknowledged the incident of `Shop`"), "{screen}");
    assert!(screen.contains("Shop  acknowledged by Ada"), "{screen}");
    fixture.press(KeyCode::Char('a'));
    assert!(fixture.screen().contains("acknowledged already by Ada"));
    fixture.press(KeyCode::End);
    fixture.press(KeyCode::Char('a'));
    assert!(fixture.screen().contains("`Docs` has no open incident"));
}

#[test]
fn keys_check_and_quit() {
    let mut fixture = WatchFixture::with_fleet();
    let check = Action::Check { monitor: "mon_2".to_owned(), name: "Shop".to_owned() };
    assert_eq!(fixture.press(KeyCode::Char('r')), Some(check));
    let words = "`Shop`: fly-ams failure in 1 ms".to_owned();
    fixture.view.on_news(News::Checked { monitor: "mon_2".to_owned(), words });
    assert!(fixture.screen().contains("fly-ams failure in 1 ms"));
    fixture.view.on_news(News::Failed("cannot connect".to_owned()));
    assert!(fixture.screen().contains("cannot connect"));
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    fixture.press(KeyCode::Char('/'));
    assert_eq!(fixture.view.on_key(control_c), Some(Action::Quit));
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.press(KeyCode::Char('q')), Some(Action::Quit));
}

// The next list hid that an incident was not acknowledged.
#[test]
fn failed_action_outlasts_a_new_list() {
    let mut fixture = WatchFixture::with_fleet();
    let monitors = || vec![monitor("mon_1", "API", WatchedStatus::Down)];
    let list = |monitors| News::Fleet {
        monitors,
        incidents: Vec::new(),
        read_at: Timestamp::from_millis(0),
    };
    fixture.view.on_news(News::Failed("acknowledging: permission denied".to_owned()));
    fixture.view.on_news(list(monitors()));
    assert!(fixture.screen().contains("permission denied"));
    fixture.view.on_news(News::Lost("listing monitors: no response".to_owned()));
    fixture.view.on_news(list(monitors()));
    assert!(!fixture.screen().contains("no response"));
}

#[test]
fn selection_survives_a_new_list() {
    let mut fixture = WatchFixture::with_fleet();
    fixture.press(KeyCode::Down);
    let monitors = vec![
        monitor("mon_4", "Mail", WatchedStatus::Up),
        monitor("mon_1", "API", WatchedStatus::Down),
        monitor("mon_5", "New", WatchedStatus::Down),
    ];
    fixture.list(monitors, Vec::new());
    assert!(fixture.screen().contains(">✓ up       Mail"), "{}", fixture.screen());
}

#[test]
fn ten_thousand_monitors_draw_only_visible_rows() {
    let mut fixture = WatchFixture::start(80, 24);
    let monitors = (0..10_000).map(|number| {
        monitor(&format!("mon_{number}"), &format!("site {number:05}"), WatchedStatus::Up)
    });
    fixture.list(monitors.collect(), Vec::new());
    assert_eq!(fixture.view.take_wanted().len(), 21);
    assert_eq!(fixture.view.take_wanted().len(), 0);
    fixture.press(KeyCode::End);
    assert!(fixture.screen().contains(">✓ up       site 09999"), "{}", fixture.screen());
    assert_eq!(fixture.view.take_wanted().len(), 21);
    fixture.press(KeyCode::PageUp);
    fixture.type_text("/04321");
    assert!(fixture.screen().contains(">✓ up       site 04321"), "{}", fixture.screen());
}

#[test]
fn small_and_large_screens_are_drawn() {
    for (width, height) in [(1, 1), (20, 5), (40, 8), (63, 9), (80, 24), (300, 90)] {
        let mut fixture = WatchFixture::with_fleet();
        fixture.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        for code in [KeyCode::Enter, KeyCode::Char('a'), KeyCode::Esc, KeyCode::PageDown] {
            fixture.press(code);
        }
        let screen = fixture.screen();
        assert_eq!(screen.lines().count(), usize::from(height), "{width}×{height}");
        assert_eq!(screen.contains("too small"), width == 20, "{screen}");
    }
}

#[test]
fn no_colour_is_used_without_a_palette() {
    let mut fixture = WatchFixture::with_fleet();
    let (palette, now) = (Palette { is_coloured: false }, Timestamp::from_millis(NOW));
    let view = &mut fixture.view;
    fixture.terminal.draw(|frame| draw(frame, view, palette, now)).unwrap();
    let buffer = fixture.terminal.backend().buffer();
    assert!(buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}
