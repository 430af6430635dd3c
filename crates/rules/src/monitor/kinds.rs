//! The kinds of checks and the arguments of monitors, as two lists. Settings, draft, mask, validation
//! and the conversions of `contract` are expansions of these lists. An argument is a line here, a row of
//! its table ([`crate::tables`]) with its rules, and a field of its message, all of the same name.

/// Passes the list of check kinds to the macro `$then`. A kind has the variant of
/// [`crate::MonitorKind`], [`super::Check`] and [`super::CheckDraft`], its name, its table, the list of
/// the arguments that it shares with other kinds, its settings and their draft, the message in `proto/`,
/// and its arguments and blocks.
#[macro_export]
macro_rules! check_kinds {
    ($then:ident) => {
        $then! {
            /// An HTTP request and its response.
            Http "http" HTTP_MONITOR monitor_arguments
            /// The arguments and blocks of §2.1 that are specific to HTTP monitors. The store
            /// encrypts this struct as JSON (`monitors.check_sealed`).
            HttpCheck HttpDraft HttpMonitor {
                /// Absolute URL as written, at most 2,048 characters.
                url: String,
                method: Method,
                /// Request body; sent for `POST`, `PUT` and `PATCH`.
                body: String,
                follow_redirects: bool,
                ip_version: IpVersion,
                /// Days before the expiry of a certificate; 0 for never.
                certificate_warn_days: u16,
                /// Certificates in PEM, that of the client first; given with `client_key`.
                client_certificate: Option<String>,
                client_key: Option<ClientKey>,
                /// Request headers, in order.
                headers: Vec<Header>,
                status_code_assertions: Vec<StatusCodeAssertion>,
                body_assertions: Vec<TextAssertion>,
                json_assertions: Vec<JsonAssertion>,
                header_assertions: Vec<HeaderAssertion>,
            }

            /// A TCP connection.
            Tcp "tcp" TCP_MONITOR monitor_arguments
            /// The argument of §2.2 that is specific to TCP monitors.
            TcpCheck TcpDraft TcpMonitor {
                /// `host:port` as written.
                uri: String,
                ip_version: IpVersion,
            }

            /// A DNS lookup.
            Dns "dns" DNS_MONITOR monitor_arguments
            /// The argument and block of §2.3 that are specific to DNS monitors.
            DnsCheck DnsDraft DnsMonitor {
                /// Domain name as written.
                uri: String,
                record_assertions: Vec<RecordAssertion>,
            }

            /// Calls of a URL, which a job makes.
            Heartbeat "heartbeat" HEARTBEAT_MONITOR unprobed_arguments
            /// The arguments that are specific to heartbeat monitors (issue 20, point 8).
            HeartbeatCheck HeartbeatDraft HeartbeatMonitor {
                /// Seconds from one heartbeat to the next.
                interval: u32,
                /// Seconds that a heartbeat may be late, and that a run may take.
                grace: u32,
            }
        }
    };
}

/// Passes the arguments of every monitor to the macro `$then`, after the tokens `$more`. An argument
/// has its name in the draft, the table and the message, and its name in [`super::MonitorSettings`],
/// which adds the unit.
#[macro_export]
macro_rules! monitor_arguments {
    ($then:ident $($more:tt)*) => {
        $then! {
            [$($more)*]
            /// At most 256 characters.
            name name: String,
            periodicity periodicity: Periodicity,
            /// Timeout of one attempt in milliseconds, as written; 0 means the maximum, see
            /// [`MonitorSettings::effective_timeout`].
            timeout timeout_ms: u32,
            /// Degraded threshold in milliseconds, as written; see
            /// [`MonitorSettings::effective_degraded_at_ms`].
            degraded_at degraded_at_ms: Option<u32>,
            /// Attempts after the first, 0 to 10.
            retry retry: u8,
            active active: bool,
            /// Whether status pages show its response times.
            public public: bool,
            /// At most 1,024 characters.
            description description: Option<String>,
            /// Sorted without regard to case, which also does not distinguish two of them.
            tags tags: Vec<Tag>,
            /// As written, sorted, without duplicates; empty means the server's default set.
            regions regions: Vec<Region>,
        }
    };
}

/// Works like [`monitor_arguments`] for kinds that no probe checks: the arguments that these share with
/// the others. The rest have the fixed values of the table [`crate::tables::UNPROBED`].
#[macro_export]
macro_rules! unprobed_arguments {
    ($then:ident $($more:tt)*) => {
        $then! {
            [$($more)*]
            name name: String,
            active active: bool,
            public public: bool,
            description description: Option<String>,
            tags tags: Vec<Tag>,
        }
    };
}
