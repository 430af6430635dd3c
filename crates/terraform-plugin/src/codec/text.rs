//! Parses JSON text into a tree with exact numbers. `serde_json` would convert them to floats.

use super::{CodecError, MAX_BYTES, MAX_DEPTH};
use crate::value::Number;

/// A parsed JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Text {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Text>),
    Object(Vec<(String, Text)>),
}

impl Text {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

/// Parses all bytes as one JSON value.
pub(super) fn parse(bytes: &[u8]) -> Result<Text, CodecError> {
    if bytes.len() > MAX_BYTES {
        return Err(CodecError::Long);
    }
    let mut parser = Parser { bytes, at: 0 };
    let text = parser.value(MAX_DEPTH)?;
    parser.space();
    if parser.at == bytes.len() { Ok(text) } else { Err(CodecError::Json(parser.at)) }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Text, CodecError> {
        let depth = depth.checked_sub(1).ok_or(CodecError::Deep)?;
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Text::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _word => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Text, CodecError> {
        let mut entries = Vec::new();
        self.at += 1;
        if self.skip(b'}') {
            return Ok(Text::Object(entries));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.expect(b':')?;
            entries.push((name, self.value(depth)?));
            if self.skip(b'}') {
                return Ok(Text::Object(entries));
            }
            self.expect(b',')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Text, CodecError> {
        let mut elements = Vec::new();
        self.at += 1;
        if self.skip(b']') {
            return Ok(Text::Array(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if self.skip(b']') {
                return Ok(Text::Array(elements));
            }
            self.expect(b',')?;
        }
    }

    /// Finds the end of the string and leaves its escapes to `serde_json`.
    fn string(&mut self) -> Result<String, CodecError> {
        let from = self.at;
        if self.peek() != Some(b'"') {
            return Err(CodecError::Json(self.at));
        }
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                let quoted = &self.bytes[from..self.at];
                return serde_json::from_slice(quoted).map_err(|_| CodecError::Json(from));
            }
        }
        Err(CodecError::Json(from))
    }

    fn number(&mut self) -> Result<Text, CodecError> {
        let from = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[from..self.at]).ok();
        let number = text.and_then(|text| text.parse().ok());
        number.map(Text::Number).ok_or(CodecError::Json(from))
    }

    fn word(&mut self) -> Result<Text, CodecError> {
        let words =
            [("null", Text::Null), ("true", Text::Bool(true)), ("false", Text::Bool(false))];
        for (word, text) in words {
            if self.bytes[self.at.min(self.bytes.len())..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(text);
            }
        }
        Err(CodecError::Json(self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), CodecError> {
        if self.skip(byte) { Ok(()) } else { Err(CodecError::Json(self.at)) }
    }
}
