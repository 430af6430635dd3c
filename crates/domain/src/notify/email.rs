//! Email: text and HTML that say the same. All of one incident are answers to one message, so that
//! they stand together. Encoding and SMTP belong to the sender.
//! Format: <https://www.rfc-editor.org/rfc/rfc5322>

mod html;
pub mod style;

use rules::notification::Email;

use super::answer::{again, refused};
use super::fit::{List, Unit, fit, plain};
use super::message::{Answer, Delivered, Envelope, ListLinks, Mail};
use super::story::{LINK_WORDS, Story, shown_time};

/// Longest subject (ours): a line of a header may have 998 octets (RFC 5322 §2.1.1), of which
/// mailboxes show a tenth.
pub(super) const SUBJECT_MAX: usize = 200;
/// Regions or events: what mailboxes show without asking (Gmail: 102 KB), with both texts.
const LINES: List =
    List { escape: plain, unit: Unit::Bytes, around: ("\n• ", ""), max: html::LINES.max };
/// Longest left part of a message id (ours).
const ID_MAX: usize = 200;

pub(super) fn compose(email: &Email, story: &Story, envelope: &Envelope<'_>) -> Mail {
    Mail {
        to: email.email.clone(),
        subject: fit(&story.title, subject, Unit::Utf16, SUBJECT_MAX),
        text: text(story),
        html: html::page(story),
        id: id(envelope.key),
        thread: id(envelope.thread),
        list: ListLinks::None,
    }
}

/// Replies of SMTP: 4yz are tried again, 5yz never, unless they are about the server's own account,
/// which its operator mends. <https://www.rfc-editor.org/rfc/rfc5321#section-4.2.1>
pub(super) fn read(answer: &Answer) -> Delivered {
    match answer.status {
        200..=399 => Delivered::Accepted,
        530 | 534 | 535 | 538 => {
            again(answer, None, "the mail server rejected this server's account")
        }
        550 | 551 | 553 => {
            refused(answer, &answer.body, Some("enter an address that accepts mail in the channel"))
        }
        500..=599 => refused(answer, &answer.body, None),
        _ => again(answer, answer.retry_after, &answer.body),
    }
}

/// The lines are bounded as those of the HTML are.
fn text(story: &Story) -> String {
    let told = Story { lines: Vec::new(), ..story.clone() }.text();
    let lines = LINES.of(&story.lines);
    let mut text = format!("{}\n\n{told}{lines}\n\n{}\n", story.title, shown_time(story.at));
    if let Some(link) = &story.link {
        text = text + "\n" + LINK_WORDS + ": " + link + "\n";
    }
    text
}

/// What begins like an encoded word would be read as one (RFC 2047 §2), whatever stands in it: a
/// joiner that nobody sees keeps a name what it is.
pub(super) fn subject(character: char, out: &mut String) {
    if character == '?' && out.ends_with('=') {
        out.push('\u{2060}');
    }
    out.push(character);
}

/// What may stand on the left of a message id, without quotes.
pub(super) fn id(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let id = text.chars().map(|c| if is_plain(c) { c } else { '-' });
    id.take(ID_MAX).collect()
}
