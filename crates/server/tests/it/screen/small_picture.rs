//! Screenshots as small files: PNG with a palette. Screens have few colours, so that the loss is
//! invisible.

use std::collections::HashMap;

use tiny_skia::Pixmap;

/// Maximum number of colours of a palette.
const COLOURS: usize = 40;
/// Number of the most frequent colours that stay as they are: those of areas.
const EXACT: usize = 24;

/// Colours of states, in light and dark (`palette.css`). They cover little, and say the most.
const STATES: [Colour; 8] = [
    [0x00, 0xa0, 0x89],
    [0xb1, 0x7f, 0x00],
    [0x84, 0x00, 0x17],
    [0x4d, 0x44, 0xa3],
    [0x00, 0xf2, 0xd3],
    [0xff, 0xd0, 0x1d],
    [0xe4, 0x00, 0x3d],
    [0x28, 0x66, 0xc6],
];

type Colour = [u8; 3];

/// Returns the picture as PNG with a palette.
pub(super) fn encode(picture: &Pixmap) -> Vec<u8> {
    let pixels: Vec<Colour> =
        picture.pixels().iter().map(|it| [it.red(), it.green(), it.blue()]).collect();
    let mut counts: HashMap<Colour, u32> = HashMap::new();
    for pixel in &pixels {
        *counts.entry(*pixel).or_default() += 1;
    }
    let palette = palette(&counts);
    let indices: HashMap<Colour, u8> =
        counts.keys().map(|colour| (*colour, nearest(&palette, *colour))).collect();
    let data: Vec<u8> = pixels.iter().map(|pixel| indices[pixel]).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, picture.width(), picture.height());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    // Neighbouring indices are unrelated numbers.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&data).unwrap();
    writer.finish().unwrap();
    file
}

/// Returns the colours of states, the most frequent ones, and then others that differ from them.
fn palette(counts: &HashMap<Colour, u32>) -> Vec<Colour> {
    let mut all: Vec<(Colour, u32)> = counts.iter().map(|(it, count)| (*it, *count)).collect();
    all.sort_by_key(|(colour, count)| (std::cmp::Reverse(*count), *colour));
    let all: Vec<Colour> = all.into_iter().map(|(colour, _)| colour).collect();
    let is_state = |colour: &Colour| STATES.contains(colour);
    let mut chosen: Vec<Colour> = all.iter().copied().filter(is_state).collect();
    chosen.extend(all.iter().copied().filter(|it| !is_state(it)).take(EXACT));
    for closeness in [192, 48, 0] {
        for colour in &all {
            let is_new = chosen.iter().all(|it| distance(*it, *colour) > closeness);
            if is_new && chosen.len() < COLOURS {
                chosen.push(*colour);
            }
        }
    }
    chosen
}

fn nearest(palette: &[Colour], colour: Colour) -> u8 {
    let found = palette.iter().enumerate().min_by_key(|(_, it)| distance(**it, colour));
    u8::try_from(found.unwrap().0).unwrap()
}

/// Returns the squared distance of two colours.
fn distance(one: Colour, other: Colour) -> u32 {
    one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}
