//! A page with what is shown of it, and what was said of it so far. When it holds no longer is said here
//! too; making it anew is the shelf's.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use domain::page::{Day, PageView};
use rules::status_page::StatusPage;
use rules::{AccessType, DomainName, Timestamp};
use store::{Access, Generation};
use tokio::time::Instant;

use super::super::address::PageAddress;
use super::super::words::Words;
use super::super::{
    door, feed, html, ical, json, markdown, picture, robots, statuspage_v2, widget,
};
use super::asked::{Asked, Tongue, What};
use super::forms::{Forms, Work};
use super::weight::{Shared, Weight};
use super::{FRESH, Form, MEANWHILE};
use crate::app::App;
use crate::pipeline::page::Projection;
use crate::said::{Encoding, PNG, Said};

/// A page with what is shown of it.
#[derive(Debug)]
pub(in crate::status_page) struct Shown {
    pub(in crate::status_page) page: StatusPage,
    pub(in crate::status_page) view: Arc<PageView>,
    /// Whether what is stored could not be read; what is shown is older.
    pub(in crate::status_page) cut_off: bool,
    /// Its own domain, as it is looked up.
    domain: Option<DomainName>,
    /// When it was read, or should have been.
    tried_at: Timestamp,
    /// Counted before anything was read, as is what stands on it.
    since: Since,
    generation: Option<Generation>,
    /// Whether somebody makes it anew already, for those who come next.
    pub(super) is_renewed: AtomicBool,
    forms: Forms,
}

/// How far everything was when somebody began to read a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    /// Grows with each reading: what was read later is newer.
    pub(super) reading: u64,
    /// Who may see the page.
    pub(super) access: Access,
}

/// How long what is shown holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// It is as it is.
    Yes,
    /// Nothing has changed but the time: it is shown while it is made anew.
    Meanwhile,
    /// Something has changed: who comes first makes it anew, and it is shown to who comes meanwhile.
    Changed,
    /// It must be made anew first.
    No,
    /// Others may see it now than when it was read: nobody is shown this any more.
    Never,
}

impl Shown {
    /// A page as it was read; forms of the one before are given out until it has its own.
    pub(super) fn new(
        Projection { page, view, generation, took: _ }: Projection,
        since: Since,
        before: Option<&Self>,
        shared: &Arc<Shared>,
    ) -> Self {
        let weight = Weight::new(shared);
        let days = view.components().filter_map(|component| component.days.as_ref());
        weight.add(days.map(|days| days.len() * size_of::<Day>()).sum());
        // What says how old it is, and what others might see, is given out no more.
        let before = before.filter(|it| !it.cut_off && it.since.access == since.access);
        let forms = match before {
            Some(before) => Forms::after(weight, &before.forms),
            None => Forms::new(weight),
        };
        Self {
            domain: page.settings.custom_domain_name(),
            page,
            cut_off: false,
            tried_at: view.at,
            view: Arc::new(view),
            since,
            generation,
            is_renewed: AtomicBool::new(false),
            forms,
        }
    }

    /// The same, said to be as old as it is.
    pub(super) fn cut_off(&self, tried_at: Timestamp, reading: u64) -> Self {
        Self {
            page: self.page.clone(),
            view: Arc::clone(&self.view),
            cut_off: true,
            domain: self.domain.clone(),
            tried_at,
            since: Since { reading, ..self.since },
            generation: None,
            is_renewed: AtomicBool::new(false),
            forms: Forms::new(Weight::new(&self.forms.weight.shared)),
        }
    }

    /// Whether this is an address of the page.
    pub(super) fn is_at(&self, address: &PageAddress) -> bool {
        match address {
            PageAddress::Slug(slug) => *slug == self.page.settings.slug,
            PageAddress::Domain(name) => {
                self.domain.as_ref().is_some_and(|own| own.as_str() == name)
            }
        }
    }

    /// Whether it was read before `other`.
    pub(super) const fn is_older(&self, other: &Self) -> bool {
        self.since.reading < other.since.reading
    }

    /// Whether it can be shown at `now`.
    pub(super) fn holds(&self, app: &App, now: Timestamp) -> Holds {
        if self.since.access != app.store.access(self.page.id) {
            return Holds::Never;
        }
        if now < self.tried_at {
            return Holds::No;
        }
        let is_same = || {
            let generation = app.store.generation(self.page.workspace);
            self.generation.is_some() && self.generation == generation
        };
        match now.since(self.tried_at) {
            age if age >= MEANWHILE => Holds::No,
            _ if !(self.cut_off || is_same()) => Holds::Changed,
            age if age < FRESH => Holds::Yes,
            _ => Holds::Meanwhile,
        }
    }

    /// A form for a visitor, in an encoding that is ready to be sent; `None` where the server is
    /// stopping.
    pub(in crate::status_page) async fn say(
        self: &Arc<Self>,
        form: Form,
        tongue: Tongue,
        encoding: Encoding,
    ) -> Option<Arc<Said>> {
        let said = self.ready(form, tongue, encoding).await;
        self.forms.wanted(&Asked { what: What::Form(form), tongue }, encoding);
        said
    }

    async fn ready(
        self: &Arc<Self>,
        form: Form,
        tongue: Tongue,
        encoding: Encoding,
    ) -> Option<Arc<Said>> {
        let asked = Asked { what: What::Form(form), tongue };
        let said = self.say_of(&asked, encoding, || async {
            // One picture is drawn at a time: it takes memory.
            let turn = if form.is_picture() { Some(picture::TURN.lock().await) } else { None };
            let shown = Arc::clone(self);
            let work = move || {
                let _turn = turn;
                shown.say_anew(form, tongue)
            };
            Ok(Some(Box::new(work) as Work))
        });
        // Nothing is read for it, so that nothing goes wrong.
        said.await.ok().flatten()
    }

    /// What `make` makes of what it read, said once for all who ask for it while the page is as it is.
    pub(in crate::status_page) async fn say_of<F>(
        &self,
        asked: &Asked,
        encoding: Encoding,
        make: impl FnOnce() -> F + Send,
    ) -> Result<Option<Arc<Said>>, String>
    where
        F: Future<Output = Result<Option<Work>, String>> + Send,
    {
        self.forms.say(asked, encoding, make).await
    }

    /// Says in what forms visitors asked of the one before, for those who will ask next; what lies
    /// behind the home page is made when somebody asks.
    pub(super) async fn say_as(self: &Arc<Self>, before: &Self) {
        for (form, tongue, encodings) in before.forms.asked() {
            for encoding in encodings {
                self.ready(form, tongue, encoding).await;
            }
        }
    }

    /// A form in the words and with the links of who asks for it.
    fn say_anew(&self, form: Form, tongue: Tongue) -> Said {
        let began = Instant::now();
        let address = match &self.domain {
            Some(domain) if tongue.is_domain => PageAddress::Domain(domain.to_string()),
            _ => PageAddress::Slug(self.page.settings.slug.clone()),
        };
        // Readers elsewhere need a host, and feeds are not valid without one.
        let Shared { origin, own, metrics, .. } = &*self.forms.weight.shared;
        let (base, url) = (address.base(), address.url(Some(origin.as_deref().unwrap_or(own))));
        let said = self.say_form(form, tongue.words, &base, &url);
        metrics.page_say_seconds.observe(began.elapsed().as_secs_f64());
        said
    }

    /// A form with links that begin with `base`, and with `url` where they are read elsewhere.
    fn say_form(&self, form: Form, words: &'static Words, base: &str, url: &str) -> Said {
        let text = match form {
            Form::Home => ("text/html; charset=utf-8", html::home(self, words, base, url)),
            Form::Json => ("application/json", json::status(self, url)),
            Form::V2Summary => ("application/json", statuspage_v2::summary(self, url)),
            Form::V2Status => ("application/json", statuspage_v2::status(self, url)),
            Form::V2Components => ("application/json", statuspage_v2::components(self, url)),
            Form::V2Incidents => ("application/json", statuspage_v2::incidents(self, url)),
            Form::V2Unresolved => ("application/json", statuspage_v2::unresolved(self, url)),
            Form::V2Maintenances => ("application/json", statuspage_v2::maintenances(self, url)),
            Form::V2MaintenancesActive => {
                ("application/json", statuspage_v2::maintenances_active(self, url))
            }
            Form::V2MaintenancesUpcoming => {
                ("application/json", statuspage_v2::maintenances_upcoming(self, url))
            }
            Form::JsonFeed => {
                ("application/feed+json; charset=utf-8", feed::json(self, words, url))
            }
            Form::Atom => ("application/atom+xml; charset=utf-8", feed::atom(self, words, url)),
            Form::Rss => ("application/rss+xml; charset=utf-8", feed::rss(self, words, url)),
            Form::Markdown => ("text/markdown; charset=utf-8", markdown::status(self, words, url)),
            Form::Calendar => ("text/calendar; charset=utf-8", ical::calendar(self, words, url)),
            Form::Widget => ("text/html; charset=utf-8", widget::frame(self, words, base)),
            Form::WidgetScript => ("text/javascript; charset=utf-8", widget::script(self, words)),
            Form::Robots => ("text/plain; charset=utf-8", robots::text(&self.page)),
            Form::Door => ("text/html; charset=utf-8", self.say_door(words, base)),
            Form::Picture => {
                let title = &self.page.settings.title;
                return Said::of(PNG, picture::draw(title, &self.view, words));
            }
        };
        let said = Said::of(text.0, text.1);
        match form {
            Form::Atom | Form::Rss | Form::JsonFeed | Form::Calendar => {
                said.changed_at(feed::changed(self))
            }
            Form::Home
            | Form::Json
            | Form::V2Summary
            | Form::V2Status
            | Form::V2Components
            | Form::V2Incidents
            | Form::V2Unresolved
            | Form::V2Maintenances
            | Form::V2MaintenancesActive
            | Form::V2MaintenancesUpcoming
            | Form::Markdown
            | Form::Picture
            | Form::Widget
            | Form::WidgetScript
            | Form::Robots
            | Form::Door => said,
        }
    }

    /// What stands before a page that is not for everybody.
    fn say_door(&self, words: &'static Words, base: &str) -> String {
        match self.page.settings.effective_access() {
            AccessType::EmailDomain => door::members::question(&self.page, words, base, None),
            // A public page has none that anybody comes to.
            AccessType::Password | AccessType::Public => {
                door::password(&self.page, words, base, None)
            }
        }
    }
}
