//! The enumerations of subscribers.

words! {
    /// How a subscriber is notified.
    SubscriberKind ("kind of subscriber") {
        /// By email.
        Email = "email",
        /// By webhook, signed like those of channels.
        Webhook = "webhook",
    }

    /// Whether a subscriber is notified.
    SubscriberState ("state of a subscriber") {
        /// The address is not confirmed yet.
        Pending = "pending",
        /// Events of its topics are sent.
        Active = "active",
    }

    /// Why a subscriber is currently not notified.
    SuppressionReason ("reason why a subscriber is not notified") {
        /// The address is not confirmed yet.
        Pending = "pending",
        /// The page is hidden from visitors.
        Hidden = "page_hidden",
        /// The page is for members, and the address is at none of their domains.
        Domain = "other_domain",
        /// The page has a password, and the subscriber signed up without it or with an earlier one.
        Password = "password",
    }

    /// A topic of events.
    Topic ("topic") {
        /// Status reports.
        Reports = "reports",
        /// Planned maintenance.
        Maintenance = "maintenance",
        /// Incidents of the components' monitors.
        Incidents = "incidents",
    }

    /// Languages of pages and emails.
    Language ("language") {
        /// English.
        En = "en",
        /// German.
        De = "de",
        /// French.
        Fr = "fr",
        /// Spanish.
        Es = "es",
        /// Portuguese.
        Pt = "pt",
        /// Japanese.
        Ja = "ja",
        /// Chinese.
        Zh = "zh",
    }
}
