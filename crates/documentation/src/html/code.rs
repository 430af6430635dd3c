//! Renders code: with the name of its language, highlighted, and with tabs for several languages. The
//! tabs are radio buttons and need no script.

use std::fmt::Write as _;

use pulldown_cmark::Event;

use super::super::blocks::Sample;
use super::super::escape::escape;
use super::super::fence::{Fence, RunsOn};
use super::super::highlight::highlight;
use super::Writer;

/// Address of a server with default settings, as examples use it.
const ORIGIN: &str = "http://127.0.0.1:8080";

impl Writer<'_> {
    /// Writes a code block.
    pub(super) fn code(&mut self, fence: Fence, code: &str) {
        self.out.push_str("<div class=\"code\">");
        self.inside(fence, code);
        self.out.push_str("</div>\n");
    }

    fn inside(&mut self, fence: Fence, code: &str) {
        let language = fence.language;
        if !language.label.is_empty() {
            let _ = write!(self.out, "<p class=\"lang\">{}</p>", language.label);
        }
        self.out.push_str("<pre tabindex=\"0\"><code>");
        let html = highlight(code.trim_end_matches('\n'));
        match self.origin {
            Some(origin) if fence.calls_server() => {
                let mut escaped = String::new();
                escape(&mut escaped, origin);
                self.out.push_str(&html.replace(ORIGIN, &escaped));
            }
            Some(_) | None => self.out.push_str(&html),
        }
        self.out.push_str("</code></pre>");
    }

    /// Writes an example in several languages. The page contains all of them and shows one.
    pub(super) fn alternatives(&mut self, samples: &[Sample], events: &[Event<'_>]) {
        self.tabs += 1;
        let number = self.tabs;
        self.out.push_str(
            "<div class=\"tabs\" role=\"radiogroup\" aria-label=\"Language of the example\">",
        );
        for (at, Sample { name, .. }) in samples.iter().enumerate() {
            let checked = if at == 0 { " checked" } else { "" };
            let _ = write!(
                self.out,
                "<input type=\"radio\" name=\"t{number}\" id=\"t{number}-{at}\" value=\"{name}\"{checked}>\
                 <label for=\"t{number}-{at}\">{name}</label>"
            );
        }
        for sample in samples {
            self.sample(sample, events);
        }
        self.out.push_str("</div>\n");
    }

    /// Writes one of several samples, with the anchor of its heading and the text after its name.
    fn sample(&mut self, sample: &Sample, events: &[Event<'_>]) {
        let heading = self.headings.iter().find(|it| Some(it.at) == sample.heading);
        self.out.push_str("<div class=\"code\"");
        if let Some(heading) = heading {
            self.out.push_str(" id=\"");
            escape(&mut self.out, &heading.anchor);
            self.out.push('"');
        }
        self.out.push('>');
        if !sample.description.is_empty() {
            self.out.push_str("<p class=\"beside-name\">");
            for at in sample.description.clone() {
                if let Event::Text(text) = &events[at] {
                    escape(&mut self.out, text.trim_start_matches([':', ' ']));
                } else {
                    self.write(at, &events[at]);
                }
            }
            self.out.push_str("</p>");
        }
        let fence = Fence { language: sample.language, runs_on: RunsOn::Anywhere };
        self.inside(fence, &sample.code);
        self.out.push_str("</div>\n");
    }
}
