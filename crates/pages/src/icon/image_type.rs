//! Detection of image types by their first bytes. The declared content type is not trusted.

/// Image types that browsers show as icons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageType {
    /// <https://www.w3.org/TR/png/#5PNG-file-signature>
    Png,
    /// <https://www.w3.org/Graphics/JPEG/itu-t81.pdf>, B.1.1.3
    Jpeg,
    /// <https://www.w3.org/Graphics/GIF/spec-gif89a.txt>, 17
    Gif,
    /// <https://developers.google.com/speed/webp/docs/riff_container>
    Webp,
    /// A container of icons in the format of Windows.
    Ico,
    /// <https://www.w3.org/TR/SVG2/>
    Svg,
}

/// Number of bytes in which the first element is searched, after comments and declarations.
const HEAD_BYTES: usize = 4_096;

impl ImageType {
    /// Detects the type of an image, or returns `None` if it is not supported.
    pub(super) fn detect(bytes: &[u8]) -> Option<Self> {
        let begins = |with: &[u8]| bytes.starts_with(with);
        if begins(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if begins(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if begins(b"GIF87a") || begins(b"GIF89a") {
            Some(Self::Gif)
        } else if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some(Self::Webp)
        } else if begins(b"\0\0\x01\0") {
            Some(Self::Ico)
        } else if is_svg(bytes) {
            Some(Self::Svg)
        } else {
            None
        }
    }

    /// Returns the content type.
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Ico => "image/x-icon",
            Self::Svg => "image/svg+xml",
        }
    }
}

/// Returns whether this is a text whose first element is `svg`.
fn is_svg(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut end = text.len().min(HEAD_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut rest = text[..end].trim_start_matches('\u{feff}').trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->")
        } else if rest.starts_with("<?") || rest.starts_with("<!DOCTYPE svg") {
            rest.split_once('>')
        } else {
            let name = rest.strip_prefix("<svg");
            return name.is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n', '>', '/']));
        };
        let Some((_, after)) = after else { return false };
        rest = after.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_type_is_detected_by_first_bytes() {
        for (bytes, kind) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some(ImageType::Png)),
            (b"\xff\xd8\xff\xe0", Some(ImageType::Jpeg)),
            (b"GIF89a", Some(ImageType::Gif)),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(ImageType::Webp)),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"\0\0\x01\0\x01\0", Some(ImageType::Ico)),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", Some(ImageType::Svg)),
            (b"\xef\xbb\xbf <?xml version=\"1.0\"?>\n<!-- x > y -->\n<svg>", Some(ImageType::Svg)),
            (
                b"<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x\"><svg/>",
                Some(ImageType::Svg),
            ),
            (b"<!doctype html><svg></svg>", None),
            (b"<html><svg></svg></html>", None),
            (b"<svgx>", None),
            (b"<!-- never ends", None),
            (b"\xff<svg>", None),
            (b"", None),
        ] {
            assert_eq!(ImageType::detect(bytes), kind, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
