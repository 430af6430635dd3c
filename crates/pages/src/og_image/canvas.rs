//! Canvas for images: colours, patterns of states, shapes, text and the PNG encoder.

use domain::page::State;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

use super::font;

/// A colour as red, green and blue.
pub(super) type Rgb = [u8; 3];

/// Background colour.
pub(super) const BACKGROUND: Rgb = [0x0f, 0x14, 0x19];
pub(super) const INK: Rgb = [0xff, 0xff, 0xff];
pub(super) const SOFT: Rgb = [0xa3, 0xb1, 0xbd];

/// An image being drawn.
pub(super) struct Canvas {
    pixels: Pixmap,
}

impl Canvas {
    /// Creates an empty image of this size in pixels.
    pub(super) fn new(width: u32, height: u32) -> Self {
        let mut pixels = Pixmap::new(width, height).expect("a picture has a size");
        pixels.fill(Color::from_rgba8(BACKGROUND[0], BACKGROUND[1], BACKGROUND[2], 0xff));
        Self { pixels }
    }

    pub(super) fn fill(&mut self, path: Option<Path>, colour: Rgb) {
        if let Some(path) = path {
            let paint = paint(colour);
            self.pixels.fill_path(&path, &paint, FillRule::Winding, Transform::identity(), None);
        }
    }

    pub(super) fn line(&mut self, points: &[(f32, f32)], width: f32, colour: Rgb) {
        let mut path = PathBuilder::new();
        for (place, (x, y)) in points.iter().enumerate() {
            if place == 0 { path.move_to(*x, *y) } else { path.line_to(*x, *y) }
        }
        let stroke = Stroke {
            width,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        if let Some(path) = path.finish() {
            self.pixels.stroke_path(&path, &paint(colour), &stroke, Transform::identity(), None);
        }
    }

    /// Draws a text. `at` is the start of its baseline.
    pub(super) fn text(&mut self, text: &str, at: (f32, f32), size: f32, colour: Rgb) {
        self.fill(font::outline(text, at, size), colour);
    }

    /// Draws a rectangle in the colour and the pattern of a state, because no meaning may depend on
    /// colour alone.
    pub(super) fn band(&mut self, state: State, (width, height): (f32, f32)) {
        self.fill(rectangle(0.0, 0.0, width, height), colour(state));
        let count = (height / width * 2.0) as usize + 2;
        for step in 0..count {
            let y = step as f32 * width / 2.0;
            match state {
                State::Degraded => self.fill(circle(width / 2.0, y, width / 8.0), BACKGROUND),
                State::Down => self.line(&[(0.0, y), (width, y - width)], width / 8.0, BACKGROUND),
                State::Maintenance => self.fill(rectangle(0.0, y, width, width / 8.0), BACKGROUND),
                State::Unknown if step % 2 == 0 => {
                    self.fill(rectangle(0.0, y, width, width / 2.0), BACKGROUND);
                }
                State::Up | State::Unknown => {}
            }
        }
        // Erase what the pattern drew outside the band.
        self.fill(rectangle(width, 0.0, width, height), BACKGROUND);
    }

    /// Draws the sign of a state with this size and centre.
    pub(super) fn sign(&mut self, state: State, (x, y): (f32, f32), size: f32) {
        let unit = size / 24.0;
        let at = |(dx, dy): (f32, f32)| (x + (dx - 12.0) * unit, y + (dy - 12.0) * unit);
        let (fill, thin) = (colour(state), 2.6 * unit);
        match state {
            State::Up => {
                self.fill(circle(x, y, 11.0 * unit), fill);
                self.line(&[(7.0, 12.5), (10.4, 15.9), (17.0, 9.0)].map(at), thin, BACKGROUND);
            }
            State::Degraded => {
                self.fill(polygon(&[(12.0, 1.5), (23.4, 22.0), (0.6, 22.0)].map(at)), fill);
                self.line(&[(12.0, 9.0), (12.0, 15.0)].map(at), thin, BACKGROUND);
                self.line(&[(12.0, 18.6), (12.0, 18.8)].map(at), thin, BACKGROUND);
            }
            State::Down => {
                let corners = [
                    (7.4, 1.0),
                    (16.6, 1.0),
                    (23.0, 7.4),
                    (23.0, 16.6),
                    (16.6, 23.0),
                    (7.4, 23.0),
                    (1.0, 16.6),
                    (1.0, 7.4),
                ];
                self.fill(polygon(&corners.map(at)), fill);
                self.line(&[(8.3, 8.3), (15.7, 15.7)].map(at), thin, BACKGROUND);
                self.line(&[(15.7, 8.3), (8.3, 15.7)].map(at), thin, BACKGROUND);
            }
            State::Maintenance => {
                self.fill(
                    polygon(&[(1.0, 1.0), (23.0, 1.0), (23.0, 23.0), (1.0, 23.0)].map(at)),
                    fill,
                );
                self.line(&[(8.0, 7.0), (8.0, 17.0)].map(at), thin, INK);
                self.line(&[(16.0, 7.0), (16.0, 17.0)].map(at), thin, INK);
            }
            State::Unknown => {
                self.fill(circle(x, y, 11.0 * unit), fill);
                self.fill(circle(x, y, 8.4 * unit), BACKGROUND);
                self.line(&[(9.0, 12.0), (15.0, 12.0)].map(at), thin, fill);
            }
        }
    }

    /// Encodes the image as PNG.
    pub(super) fn png(&self) -> Vec<u8> {
        self.pixels.encode_png().expect("pixels in memory are written to memory")
    }

    /// Returns the colour of a pixel.
    #[cfg(test)]
    pub(super) fn at(&self, x: u32, y: u32) -> Rgb {
        let pixel = self.pixels.pixel(x, y).unwrap();
        [pixel.red(), pixel.green(), pixel.blue()]
    }
}

/// Returns the colour of a state on the dark background.
pub(super) const fn colour(state: State) -> Rgb {
    match state {
        State::Up => [0x00, 0xf2, 0xd3],
        State::Degraded => [0xff, 0xd0, 0x1d],
        State::Down => [0xe4, 0x00, 0x3d],
        State::Maintenance => [0x28, 0x66, 0xc6],
        State::Unknown => [0x7e, 0x8b, 0x97],
    }
}

fn paint([red, green, blue]: Rgb) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 0xff);
    paint.anti_alias = true;
    paint
}

fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Option<Path> {
    Rect::from_xywh(x, y, width, height).map(PathBuilder::from_rect)
}

fn circle(x: f32, y: f32, radius: f32) -> Option<Path> {
    PathBuilder::from_circle(x, y, radius)
}

fn polygon(points: &[(f32, f32)]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (place, (x, y)) in points.iter().enumerate() {
        if place == 0 { path.move_to(*x, *y) } else { path.line_to(*x, *y) }
    }
    path.close();
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    // design: §7 "colour never speaks alone (height, pattern, word)"
    #[test]
    fn states_have_distinct_patterns() {
        let states = [State::Up, State::Degraded, State::Down, State::Maintenance, State::Unknown];
        let patterns: Vec<Vec<bool>> = states
            .iter()
            .map(|state| {
                let mut canvas = Canvas::new(100, 100);
                canvas.band(*state, (40.0, 100.0));
                let colour = colour(*state);
                (0..100)
                    .flat_map(|y| (0..40).map(move |x| (x, y)))
                    .map(|(x, y)| canvas.at(x, y) == colour)
                    .collect()
            })
            .collect();
        for (place, one) in patterns.iter().enumerate() {
            for other in &patterns[place + 1..] {
                let apart = one.iter().zip(other).filter(|(one, other)| one != other).count();
                assert!(apart > 100, "{apart} pixels of 4,000 apart");
            }
        }
    }

    #[test]
    fn a_band_ends_where_it_should() {
        let mut canvas = Canvas::new(100, 60);
        canvas.band(State::Down, (20.0, 60.0));
        assert!((20..100).all(|x| (0..60).all(|y| canvas.at(x, y) == BACKGROUND)));
    }
}
