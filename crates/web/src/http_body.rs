//! HTTP bodies for browsers: compression on demand, entity tags and the content security policy.
//! Other modules produce the content.

mod compress;

use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use foldhash::quality::FixedState;
use http::header::{ACCEPT_ENCODING, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue};
use rules::Timestamp;
use sha2::{Digest as _, Sha256};

/// Content type of images that are already compressed.
pub const PNG: &str = "image/png";

/// Hasher of entity tags. It is fast and the same in every process. Tags protect nothing, so it
/// need not be cryptographic.
const TAGS: FixedState = FixedState::with_seed(0);
/// Minimum size that is worth compressing, in bytes.
const SMALL: usize = 256;

/// Content coding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// No compression.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 7932, the smallest.
    Brotli,
}

/// Body with its headers, compressed on demand.
#[derive(Debug)]
pub struct EncodedBody {
    pub content_type: &'static str,
    /// Entity tag of the uncompressed bytes. It is weak because all encodings share it.
    pub etag: HeaderValue,
    /// Time of the last change of the content, in whole seconds. `None` if unknown.
    pub changed_at: Option<SystemTime>,
    plain: Bytes,
    gzip: OnceLock<Bytes>,
    brotli: OnceLock<Bytes>,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::Identity, Self::Gzip, Self::Brotli];

    /// Returns the smallest encoding that the client accepts.
    pub fn negotiate(request: &HeaderMap) -> Self {
        let takes =
            |wanted: &str| header_contains(request, &ACCEPT_ENCODING, |item| item == wanted);
        if takes("br") {
            Self::Brotli
        } else if takes("gzip") {
            Self::Gzip
        } else {
            Self::Identity
        }
    }

    /// Returns the value of `content-encoding`. `None` if the header is not needed.
    pub const fn as_token(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Brotli => Some("br"),
        }
    }
}

impl EncodedBody {
    pub fn new(content_type: &'static str, text: impl Into<Bytes>) -> Self {
        let plain: Bytes = text.into();
        let mut hasher = TAGS.build_hasher();
        hasher.write(&plain);
        let digest = URL_SAFE_NO_PAD.encode(hasher.finish().to_be_bytes());
        let etag = HeaderValue::try_from(format!("W/\"{digest}\""));
        Self {
            content_type,
            etag: etag.expect("digits in quotes are a header"),
            changed_at: None,
            plain,
            gzip: OnceLock::new(),
            brotli: OnceLock::new(),
        }
    }

    /// Sets the time of the last change.
    #[must_use]
    pub fn changed_at(mut self, at: Timestamp) -> Self {
        let seconds = Duration::from_secs(at.as_millis().max(0) as u64 / 1_000);
        self.changed_at = Some(SystemTime::UNIX_EPOCH + seconds);
        self
    }

    /// Returns the best encoding that the client accepts and that is worth using.
    pub fn encoding(&self, request: &HeaderMap) -> Encoding {
        let is_small = self.plain.len() < SMALL;
        if is_small || self.content_type == PNG {
            Encoding::Identity
        } else {
            Encoding::negotiate(request)
        }
    }

    /// Returns the bytes in an encoding. Compresses them on the first use.
    pub fn bytes(&self, encoding: Encoding) -> Bytes {
        match encoding {
            Encoding::Identity => self.plain.clone(),
            Encoding::Gzip => self.gzip.get_or_init(|| compress::gzip(&self.plain)).clone(),
            Encoding::Brotli => self.brotli.get_or_init(|| compress::brotli(&self.plain)).clone(),
        }
    }

    /// Returns whether the bytes in an encoding are already computed.
    pub fn is_ready(&self, encoding: Encoding) -> bool {
        match encoding {
            Encoding::Identity => true,
            Encoding::Gzip => self.gzip.get().is_some(),
            Encoding::Brotli => self.brotli.get().is_some(),
        }
    }

    /// Returns whether the client already has these bytes, by its entity tag or else by its date.
    pub fn is_unmodified(&self, request: &HeaderMap) -> bool {
        if request.contains_key(IF_NONE_MATCH) {
            return matches_etag(&self.etag, request);
        }
        let since = request.get(IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
        let since = since.and_then(|value| httpdate::parse_http_date(value).ok());
        self.changed_at.zip(since).is_some_and(|(changed, since)| changed <= since)
    }

    /// Returns the memory use in bytes, including the compressed forms so far.
    pub fn byte_size(&self) -> usize {
        let compressed = [&self.gzip, &self.brotli].into_iter().filter_map(OnceLock::get);
        self.plain.len() + compressed.map(Bytes::len).sum::<usize>()
    }
}

/// Returns whether the client already has the bytes with this entity tag.
pub fn matches_etag(etag: &HeaderValue, request: &HeaderMap) -> bool {
    let own = bare(etag.to_str().unwrap_or_default());
    header_contains(request, &IF_NONE_MATCH, |item| bare(item) == own || item == "*")
}

/// Returns the content security policy of a page with this style. It allows only resources of the
/// same origin.
pub fn content_security_policy(style: &str) -> HeaderValue {
    let style = STANDARD.encode(Sha256::digest(style));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("base64 is a header")
}

/// Strips the mark of a weak entity tag.
fn bare(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

/// Returns whether a list in a header contains a wanted item whose weight is not 0.
fn header_contains(
    request: &HeaderMap,
    name: &HeaderName,
    is_wanted: impl Fn(&str) -> bool,
) -> bool {
    let values = request.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| {
        let (item, weight) = item.split_once(';').unwrap_or((item, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
        is_wanted(item.trim()) && !matches!(weight, Some(Ok(0.0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn smallest_accepted_encoding_is_chosen() {
        for (header, encoding) in [
            ("gzip, deflate, br, zstd", Encoding::Brotli),
            ("gzip;q=1.0, br;q=0.4", Encoding::Brotli),
            ("br;q=0, gzip", Encoding::Gzip),
            ("br; q=0.0, gzip;q=0.000", Encoding::Identity),
            ("deflate", Encoding::Identity),
            ("", Encoding::Identity),
        ] {
            assert_eq!(
                Encoding::negotiate(&headers(ACCEPT_ENCODING, header)),
                encoding,
                "{header}"
            );
        }
    }

    #[test]
    fn compressed_body_decodes_to_same_text() {
        use std::io::{Read as _, Write as _};
        let text = "all works. ".repeat(500);
        let body = EncodedBody::new("text/plain", text.clone());
        assert_eq!(body.byte_size(), text.len(), "nothing is compressed before somebody asks");
        let mut gzip = String::new();
        let bytes = body.bytes(Encoding::Gzip);
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut gzip).unwrap();
        let mut brotli = brotli::DecompressorWriter::new(Vec::new(), 4_096);
        brotli.write_all(&body.bytes(Encoding::Brotli)).unwrap();
        let brotli = String::from_utf8(brotli.into_inner().unwrap()).unwrap();
        assert_eq!((gzip.as_str(), brotli.as_str()), (text.as_str(), text.as_str()));
        assert!(body.byte_size() < text.len() + 200);
    }

    #[test]
    fn weak_and_strong_etags_match() {
        let body = EncodedBody::new("text/plain", "fine");
        let weak = body.etag.to_str().unwrap().to_owned();
        let strong = weak.strip_prefix("W/").unwrap();
        for known in [&weak, strong, &format!("\"other\", {weak}"), "*"] {
            let known = HeaderValue::from_str(known).unwrap();
            let request = HeaderMap::from_iter([(http::header::IF_NONE_MATCH, known)]);
            assert!(body.is_unmodified(&request));
        }
        assert!(!body.is_unmodified(&headers(http::header::IF_NONE_MATCH, "\"other\"")));
        assert!(!body.is_unmodified(&HeaderMap::new()));
    }
}
