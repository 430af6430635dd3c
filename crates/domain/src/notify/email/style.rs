//! Styles of all our emails, inline because mail programs drop others.

/// Style of the body.
pub const BODY: &str = "margin:0;padding:16px;background:#f4f5f7;color:#16191d;\
    font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
/// Style of the content column.
pub const CARD: &str = "max-width:600px;margin:0 auto;padding:24px;background:#ffffff";
/// Style of the title.
pub const HEADING: &str = "margin:0 0 16px;font-size:20px;overflow-wrap:anywhere";
/// Style of the sender's name.
pub const LIGHT: &str = "margin:0;color:#5b6470";
/// Style of the footer.
pub const SMALL: &str = "margin:16px 0 0;color:#5b6470;font-size:13px";
/// Style of the main link.
pub const BUTTON: &str = "display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;\
    text-decoration:none;border-radius:4px";
