//! The terminal during the live view: raw input, the alternate screen, and their end in every case: a return,
//! a panic, or a signal.

use std::io::Stdout;

use anyhow::{Context as _, Result};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{Event, KeyEvent, KeyEventKind, read};
use ratatui::{Frame, Terminal};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Maximum number of keys that wait.
const KEYS_MAX: usize = 256;

/// The terminal in the state of the view. Dropping it restores the terminal.
pub(super) struct ScreenGuard {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    keys: mpsc::Receiver<Option<KeyEvent>>,
}

impl ScreenGuard {
    /// Prepares the terminal. A panic restores it before its message.
    pub(super) fn enter() -> Result<Self> {
        let terminal = ratatui::try_init().context("preparing the terminal")?;
        Ok(Self { terminal, keys: read_keys() })
    }

    /// Draws a frame. Only cells that differ are written.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<()> {
        self.terminal.draw(draw).context("writing to the terminal")?;
        Ok(())
    }

    /// Waits for a key, or for a change of the size, which is `Some(None)`. Returns `None` if the terminal
    /// is gone.
    pub(super) async fn input(&mut self) -> Option<Option<KeyEvent>> {
        self.keys.recv().await
    }
}

impl Drop for ScreenGuard {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = self.terminal.show_cursor();
        let _ = ratatui::try_restore();
    }
}

/// Reads keys on a thread, because reading blocks. `None` stands for a resize.
fn read_keys() -> mpsc::Receiver<Option<KeyEvent>> {
    let (sender, keys) = mpsc::channel(KEYS_MAX);
    std::thread::spawn(move || {
        while let Ok(event) = read() {
            let key = match event {
                Event::Key(key) if key.kind != KeyEventKind::Release => Some(key),
                Event::Resize(..) => None,
                Event::Key(_)
                | Event::FocusGained
                | Event::FocusLost
                | Event::Mouse(_)
                | Event::Paste(_) => continue,
            };
            if sender.blocking_send(key).is_err() {
                return;
            }
        }
    });
    keys
}

/// Returns signals that end the view: of a closed terminal, and of `kill`.
pub(super) fn signals() -> Result<mpsc::Receiver<()>> {
    let (sender, ended) = mpsc::channel(1);
    for kind in [SignalKind::hangup(), SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signal = signal(kind).context("listening for signals")?;
        let sender = sender.clone();
        tokio::spawn(async move {
            signal.recv().await;
            // A second signal has nothing to end.
            let _ = sender.try_send(());
        });
    }
    Ok(ended)
}
