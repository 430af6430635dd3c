//! Styles that all our emails share, inline because mail programs drop others.

/// What stands around everything.
pub const BODY: &str = "margin:0;padding:16px;background:#f4f5f7;color:#16191d;\
    font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
/// The column that everything stands in.
pub const CARD: &str = "max-width:600px;margin:0 auto;padding:24px;background:#ffffff";
/// What it is about.
pub const HEADING: &str = "margin:0 0 16px;font-size:20px;overflow-wrap:anywhere";
/// Whom it is from.
pub const LIGHT: &str = "margin:0;color:#5b6470";
/// What stands below, and nobody has to read.
pub const SMALL: &str = "margin:16px 0 0;color:#5b6470;font-size:13px";
/// The link that matters.
pub const BUTTON: &str = "display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;\
    text-decoration:none;border-radius:4px";
