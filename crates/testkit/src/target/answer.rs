//! What an HTTP target answers: a scene of bytes, waits and worse. Serving it belongs to `http`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;

/// One answer of an HTTP target.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) before: Duration,
    midway: Duration,
    framing: Framing,
    script: Option<Vec<Step>>,
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug)]
enum Framing {
    Length,
    Chunked,
    Close,
}

/// One step of an answer over HTTP/1.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Send these bytes.
    Send(Bytes),
    /// Send them again and again.
    SendForever(Bytes),
    /// Do nothing for so long.
    Wait(Duration),
    /// Do nothing any more, and keep the connection open.
    Hang,
    /// Break the connection.
    Reset,
}

impl Answer {
    /// A status with an empty body.
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

    /// 200 with this body.
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self::status(200).body(body)
    }

    /// A redirect to `location`.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::status(status).header("location", location)
    }

    /// These bytes, then the end of the connection.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::script(vec![Step::Send(bytes.into())])
    }

    /// Nothing, and the connection stays open.
    pub fn silent() -> Self {
        Self::script(vec![Step::Hang])
    }

    /// These bytes, and then the connection stays open without another.
    pub fn stuck_after(bytes: impl Into<Bytes>) -> Self {
        Self::script(vec![Step::Send(bytes.into()), Step::Hang])
    }

    /// These bytes, then a broken connection.
    pub fn reset_after(bytes: impl Into<Bytes>) -> Self {
        Self::script(vec![Step::Send(bytes.into()), Step::Reset])
    }

    /// 200 with a body that never ends.
    pub fn endless() -> Self {
        let head = Bytes::from_static(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        Self::script(vec![Step::Send(head), Step::SendForever(Bytes::from(vec![b'x'; 65_536]))])
    }

    /// 200 with a body of a gigabyte, which is said before and comes as long as somebody reads.
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

    /// With this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The body in gzip (RFC 1952), and a header that says so.
    #[must_use]
    pub fn gzipped(mut self) -> Self {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&self.body).expect("memory takes all");
        self.body = encoder.finish().expect("memory takes all").into();
        self.header("content-encoding", "gzip")
    }

    /// The body in zlib's format (RFC 1950), and a header that says `deflate`.
    #[must_use]
    pub fn zlibbed(mut self) -> Self {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&self.body).expect("memory takes all");
        self.body = encoder.finish().expect("memory takes all").into();
        self.header("content-encoding", "deflate")
    }

    /// The body in bare deflate (RFC 1951), and a header that says `deflate`.
    #[must_use]
    pub fn deflated(mut self) -> Self {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&self.body).expect("memory takes all");
        self.body = encoder.finish().expect("memory takes all").into();
        self.header("content-encoding", "deflate")
    }

    /// The body as it is sent.
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

    /// In chunks instead of with a length.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.framing = Framing::Chunked;
        self
    }

    /// Ended by the end of the connection instead of with a length.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::Close;
        self
    }

    fn script(script: Vec<Step>) -> Self {
        Self { script: Some(script), ..Self::status(200) }
    }

    /// The steps over HTTP/1, as the answer to a request with this method.
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
            write!(head, "{name}: {value}\r\n").expect("a string takes all");
        }
        match self.framing {
            Framing::Length if self.status == 204 || self.status == 304 => {}
            Framing::Length => {
                write!(head, "content-length: {}\r\n", self.body.len())
                    .expect("a string takes all");
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
