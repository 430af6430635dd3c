//! Font of images and badges, with Latin, Greek and Cyrillic characters. Measures text and returns
//! its outlines. The drawing code decides what goes where. `crates/pages/fonts/` has the source and
//! the licence of the font.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use unicode_segmentation::UnicodeSegmentation as _;

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../fonts/roboto-medium.ttf");
    Face::parse(bytes, 0).expect("the bundled font is a font: the tests read it")
});

/// Estimated widths, in em, of East Asian and of other characters that the font lacks.
const WIDE: f32 = 1.0;
const NARROW: f32 = 0.6;
/// First character that counts as wide.
const WIDE_FROM: char = '\u{1100}';

/// Returns whether the font has every character of a text.
pub(crate) fn has_glyphs(text: &str) -> bool {
    text.chars().all(|letter| letter == ' ' || FACE.glyph_index(letter).is_some())
}

/// Returns the width of a text at this size in pixels. Characters that the font lacks are
/// estimated.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    let wide: f32 = text.graphemes(true).map(|letter| advance(letter) * size).sum();
    // The sum of an empty text is −0, which would appear in the badge as such.
    wide + 0.0
}

/// Returns the outlines of a text whose baseline begins at this point, or `None` if nothing is
/// visible.
pub(super) fn outline(text: &str, (x, y): (f32, f32), size: f32) -> Option<Path> {
    let scale = size / f32::from(FACE.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), scale, x, y };
    for letter in text.graphemes(true) {
        for part in letter.chars() {
            if let Some(glyph) = FACE.glyph_index(part) {
                FACE.outline_glyph(glyph, &mut pen);
            }
        }
        pen.x += advance(letter) * size;
    }
    pen.path.finish()
}

/// Returns the width of a grapheme in em.
fn advance(letter: &str) -> f32 {
    let first = letter.chars().next().unwrap_or(' ');
    match FACE.glyph_index(first) {
        Some(glyph) => glyph_advance(glyph),
        None if first >= WIDE_FROM => WIDE,
        None => NARROW,
    }
}

fn glyph_advance(glyph: GlyphId) -> f32 {
    let units = FACE.glyph_hor_advance(glyph).unwrap_or_default();
    f32::from(units) / f32::from(FACE.units_per_em())
}

/// Pen for glyphs. Their `y` axis points up, that of images down.
struct Pen {
    path: PathBuilder,
    scale: f32,
    x: f32,
    y: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn font_has_latin_cyrillic_and_greek_glyphs_only() {
        for text in
            ["Everything works", "Ausgefallen: äöüß", "Tout fonctionne, été", "¿Qué? ñ", "ção · …"]
        {
            assert!(has_glyphs(text), "{text}");
        }
        assert!(has_glyphs("Работает") && has_glyphs("Λειτουργεί"));
        assert!(!has_glyphs("すべて正常") && !has_glyphs("一切正常") && !has_glyphs("🚀"));
    }

    #[test]
    fn texts_are_as_wide_as_their_letters() {
        assert_eq!(width("", 11.0).to_bits(), 0.0_f32.to_bits());
        assert!(width("iiii", 11.0) < width("MMMM", 11.0) / 2.0);
        assert!((width("abab", 22.0) - 4.0 * width("ab", 11.0)).abs() < 0.01);
        assert!((width("正常", 10.0) - 20.0).abs() < 0.01);
    }

    #[test]
    fn a_text_has_outlines_where_it_stands() {
        let path = outline("Hx", (100.0, 50.0), 20.0).unwrap();
        let bounds = path.bounds();
        assert!(bounds.left() >= 100.0 && bounds.right() <= 100.0 + width("Hx", 20.0));
        assert!((bounds.bottom() - 50.0).abs() < 1.0 && bounds.top() > 30.0);
        assert!(outline("  ", (0.0, 0.0), 20.0).is_none());
    }
}
