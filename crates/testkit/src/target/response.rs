//! Scripted responses of an HTTP target: bytes, delays and failures. Leaves serving them to `http`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;

/// A response of an HTTP target.
#[derive(Clone, Debug)]
pub struct ScriptedResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) before: Duration,
    midway: Duration,
    framing: Framing,
    script: Option<Vec<Step>>,
}

/// Way to mark the end of a body.
#[derive(Clone, Copy, Debug)]
enum Framing {
    Length,
    Chunked,
    Close,
}

/// One step of a response over HTTP/1.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Send these bytes.
    Send(Bytes),
    /// Send these bytes in an endless loop.
    SendForever(Bytes),
    /// Wait for this duration.
    Wait(Duration),
    /// Send nothing more and keep the connection open.
    Hang,
    /// Reset the connection.
    Reset,
}

impl ScriptedResponse {
    /// Returns a response with this status and an empty body.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Bytes::new(),
            before: Duration::ZERO,
            midway: Duration::ZERO,
            framing: Framing::Length,
            script: None,
        }
    }

    /// Returns 200 with this body.
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self::status(200).body(body)
    }

    /// Returns a redirect to `location`.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::status(status).header("location", location)
    }

    /// Sends these bytes, then closes the connection.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::script(vec![Step::Send(bytes.into())])
    }

    /// Sends nothing and keeps the connection open.
    pub fn silent() -> Self {
        Self::script(vec![Step::Hang])
    }

    /// Sends these bytes, then keeps the connection open.
    pub fn stuck_after(bytes: impl Into<Bytes>) -> Self {
        Self::script(vec![Step::Send(bytes.into()), Step::Hang])
    }

    /// Sends these bytes, then resets the connection.
    pub fn reset_after(bytes: impl Into<Bytes>) -> Self {
        Self::script(vec![Step::Send(bytes.into()), Step::Reset])
    }

    /// Returns 200 with a body that never ends.
    pub fn endless() -> Self {
        let head = Bytes::from_static(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        Self::script(vec![Step::Send(head), Step::SendForever(Bytes::from(vec![b'x'; 65_536]))])
    }

    /// Returns 200 with a body of a gigabyte. It has a content-length and is sent as long as the
    /// client reads.
    pub fn gigabyte() -> Self {
        let head = Bytes::from_static(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1073741824\r\n\r\n",
        );
        Self::script(vec![Step::Send(head), Step::SendForever(Bytes::from(vec![b'x'; 65_536]))])
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Compresses the body with gzip (RFC 1952) and sets the header.
    #[must_use]
    pub fn gzipped(mut self) -> Self {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&self.body).expect("writing to memory cannot fail");
        self.body = encoder.finish().expect("writing to memory cannot fail").into();
        self.header("content-encoding", "gzip")
    }

    /// Compresses the body in zlib format (RFC 1950) and sets the header to `deflate`.
    #[must_use]
    pub fn zlibbed(mut self) -> Self {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&self.body).expect("writing to memory cannot fail");
        self.body = encoder.finish().expect("writing to memory cannot fail").into();
        self.header("content-encoding", "deflate")
    }

    /// Compresses the body with raw deflate (RFC 1951) and sets the header to `deflate`.
    #[must_use]
    pub fn deflated(mut self) -> Self {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&self.body).expect("writing to memory cannot fail");
        self.body = encoder.finish().expect("writing to memory cannot fail").into();
        self.header("content-encoding", "deflate")
    }

    /// Returns the body as sent.
    pub fn bytes(&self) -> Bytes {
        self.body.clone()
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.before = delay;
        self
    }

    /// Waits in the middle of the body.
    #[must_use]
    pub fn pausing(mut self, delay: Duration) -> Self {
        self.midway = delay;
        self
    }

    /// Sends chunks instead of a content-length.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.framing = Framing::Chunked;
        self
    }

    /// Marks the end of the body by closing the connection, instead of a content-length.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::Close;
        self
    }

    fn script(script: Vec<Step>) -> Self {
        Self { script: Some(script), ..Self::status(200) }
    }

    /// Returns the steps over HTTP/1, for a request with this method.
    pub(super) fn steps(&self, method: &str) -> Vec<Step> {
        if let Some(script) = &self.script {
            return script.clone();
        }
        let mut steps = Vec::new();
        if !self.before.is_zero() {
            steps.push(Step::Wait(self.before));
        }
        steps.push(Step::Send(self.head()));
        if method == "HEAD" || self.body.is_empty() && !matches!(self.framing, Framing::Chunked) {
            return steps;
        }
        let (first, second) = self.body.split_at(self.body.len() / 2);
        steps.push(Step::Send(self.framed(first)));
        if !self.midway.is_zero() {
            steps.push(Step::Wait(self.midway));
        }
        steps.push(Step::Send(self.framed(second)));
        if matches!(self.framing, Framing::Chunked) {
            steps.push(Step::Send(Bytes::from_static(b"0\r\n\r\n")));
        }
        steps
    }

    fn head(&self) -> Bytes {
        let mut head = format!("HTTP/1.1 {} Answer\r\n", self.status);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").expect("writing to a string cannot fail");
        }
        match self.framing {
            Framing::Length if self.status == 204 || self.status == 304 => {}
            Framing::Length => {
                write!(head, "content-length: {}\r\n", self.body.len())
                    .expect("writing to a string cannot fail");
            }
            Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
            Framing::Close => {}
        }
        head.push_str("connection: close\r\n\r\n");
        head.into()
    }

    fn framed(&self, part: &[u8]) -> Bytes {
        if part.is_empty() || !matches!(self.framing, Framing::Chunked) {
            return Bytes::copy_from_slice(part);
        }
        let size = format!("{:x}\r\n", part.len());
        Bytes::from([size.as_bytes(), part, b"\r\n"].concat())
    }
}
