//! The tools for assistants as data: one row each. `catalog` makes the tools of the protocol from them,
//! and the build script finds in them the methods whose requests become input schemas.

/// A tool that an assistant may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Name for people.
    pub(crate) title: &'static str,
    /// Purpose of the tool, for a model.
    pub(crate) description: &'static str,
    pub(crate) action: Action,
    pub(crate) effect: Effect,
    pub(crate) reach: Reach,
    pub(crate) notice: Notice,
    /// Whether results contain texts of monitored hosts or receivers, which are not instructions.
    pub(crate) is_untrusted: bool,
    /// Fields of the request that the tool does not offer, as paths such as `monitor.active`.
    pub(crate) hidden: &'static [&'static str],
}

/// Calls that a tool makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// One method of the contract, by its path.
    Call(&'static str),
    /// The workspace, and the scope of the key.
    Whoami,
    /// Monitors that are down or degraded, and the open incidents.
    ListBroken,
    /// An update of `active` by the kind of the monitor.
    Pause,
    Resume,
}

/// Change that a tool makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// Adds something, or changes what a later call changes back.
    Adds,
    /// Overwrites or deletes.
    Destroys,
}

/// Systems that a call reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only the workspace.
    Workspace,
    /// Monitored hosts, receivers or subscribers, too.
    World,
}

/// Consent that a tool requires because it sends messages to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    Silent,
    /// The request has a field `notify`, which the tool requires although the contract has a default.
    Chosen,
    /// The call itself notifies. It requires an argument `notify` of its own with the value true.
    Certain,
}

/// Field of a monitor that only pausing and resuming set, because pausing may notify.
const ACTIVE: &str = "monitor.active";
/// Name of the argument that says whether people are notified.
pub(crate) const NOTIFY: &str = "notify";
/// Name of the argument that makes a retry return the first result.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotencyKey";
/// Fields that no tool offers: page tokens replace offsets, and the given fields are the mask.
pub(crate) const HIDDEN: [&str; 2] = ["offset", "updateMask"];

/// Method that pausing and resuming read the kind with.
pub(crate) const GET_MONITOR: &str = "/monitor.v1.MonitorService/GetMonitor";
/// Methods that pause and resume, by the field of the monitor's kind.
pub(crate) const UPDATE_MONITOR: [(&str, &str); 4] = [
    ("http", "/monitor.v1.MonitorService/UpdateHttpMonitor"),
    ("tcp", "/monitor.v1.MonitorService/UpdateTcpMonitor"),
    ("dns", "/monitor.v1.MonitorService/UpdateDnsMonitor"),
    ("heartbeat", "/monitor.v1.MonitorService/UpdateHeartbeatMonitor"),
];
pub(crate) const GET_WORKSPACE: &str = "/workspace.v1.WorkspaceService/GetWorkspace";
pub(crate) const LIST_MONITORS: &str = "/monitor.v1.MonitorService/ListMonitors";
pub(crate) const LIST_INCIDENTS: &str = "/incident.v1.IncidentService/ListIncidents";

impl Action {
    /// Returns the method whose request is the input of the tool.
    pub(crate) const fn input(self) -> &'static str {
        match self {
            Self::Call(method) => method,
            // Its request is empty.
            Self::Whoami | Self::ListBroken => GET_WORKSPACE,
            Self::Pause | Self::Resume => GET_MONITOR,
        }
    }

    /// Returns the paths of all methods that the tool may call.
    pub(crate) fn methods(self) -> Vec<&'static str> {
        match self {
            Self::Call(method) => vec![method],
            Self::Whoami => vec![GET_WORKSPACE],
            Self::ListBroken => vec![LIST_MONITORS, LIST_INCIDENTS],
            Self::Pause | Self::Resume => {
                let updates = UPDATE_MONITOR.iter().map(|(_, method)| *method);
                std::iter::once(GET_MONITOR).chain(updates).collect()
            }
        }
    }
}

impl Tool {
    const fn new(name: &'static str, title: &'static str, effect: Effect, action: Action) -> Self {
        Self {
            name,
            title,
            description: "",
            action,
            effect,
            reach: Reach::Workspace,
            notice: Notice::Silent,
            is_untrusted: false,
            hidden: &[],
        }
    }

    const fn reads(name: &'static str, title: &'static str, method: &'static str) -> Self {
        Self::new(name, title, Effect::Reads, Action::Call(method))
    }

    const fn adds(name: &'static str, title: &'static str, method: &'static str) -> Self {
        Self::new(name, title, Effect::Adds, Action::Call(method))
    }

    const fn destroys(name: &'static str, title: &'static str, method: &'static str) -> Self {
        Self::new(name, title, Effect::Destroys, Action::Call(method))
    }

    const fn about(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    const fn untrusted(mut self) -> Self {
        self.is_untrusted = true;
        self
    }

    const fn reaches_world(mut self) -> Self {
        self.reach = Reach::World;
        self
    }

    const fn notifies(mut self, notice: Notice) -> Self {
        self.notice = notice;
        self.reaches_world()
    }

    const fn without(mut self, hidden: &'static [&'static str]) -> Self {
        self.hidden = hidden;
        self
    }
}

/// All tools, in the order of lists.
pub(crate) const TOOLS: &[Tool] = &[
    Tool::new("whoami", "Who am I", Effect::Reads, Action::Whoami)
        .about("Returns the workspace of the key, its plan with limits and usage, and the scope of the key."),
    Tool::new("list_broken", "What is broken now", Effect::Reads, Action::ListBroken)
        .about("Returns the monitors that are down (`error`) or `degraded` now, and the open incidents. Start here if something may be broken."),
    Tool::reads("list_monitors", "List monitors", LIST_MONITORS)
        .about("Lists monitors with their settings and status, newest first. Filter by tags."),
    Tool::reads("get_monitor", "Get a monitor", GET_MONITOR)
        .about("Returns one monitor with its settings and status."),
    Tool::reads("get_monitor_status", "Status of a monitor", "/monitor.v1.MonitorService/GetMonitorStatus")
        .about("Returns the status of a monitor by region, the time of its last change, its open incident, and the current maintenance."),
    Tool::reads("get_monitor_summary", "Figures of a monitor", "/monitor.v1.MonitorService/GetMonitorSummary")
        .about("Returns uptime, counts and latency percentiles of a monitor for 1 to 90 days."),
    Tool::reads("list_response_logs", "List check results", "/monitor.v1.MonitorService/ListResponseLogs")
        .about("Lists results of a monitor's checks, newest first.").untrusted(),
    Tool::reads("get_response_log", "Get a check result", "/monitor.v1.MonitorService/GetResponseLog")
        .about("Returns one result with every attempt: the time of each phase, addresses, headers, and the reason of a failure.").untrusted(),
    Tool::reads("list_incidents", "List incidents", LIST_INCIDENTS)
        .about("Lists incidents, newest first. Filter by state, monitor and time."),
    Tool::reads("get_incident", "Get an incident", "/incident.v1.IncidentService/GetIncident")
        .about("Returns an incident with its timeline and the evidence of each region.").untrusted(),
    Tool::reads("list_status_reports", "List status reports", "/status_report.v1.StatusReportService/ListStatusReports")
        .about("Lists the reports about outages on status pages, newest first."),
    Tool::reads("get_status_report", "Get a status report", "/status_report.v1.StatusReportService/GetStatusReport")
        .about("Returns a report with all its updates."),
    Tool::reads("list_maintenances", "List maintenance", "/maintenance.v1.MaintenanceService/ListMaintenances")
        .about("Lists planned maintenance, newest first."),
    Tool::reads("list_channels", "List notification channels", "/notification.v1.NotificationService/ListNotifications")
        .about("Lists the channels that send alerts, with their monitors. Secrets are omitted."),
    Tool::reads("list_status_pages", "List status pages", "/status_page.v1.StatusPageService/ListStatusPages")
        .about("Lists status pages."),
    Tool::reads("get_status_page", "Get a status page", "/status_page.v1.StatusPageService/GetStatusPage")
        .about("Returns one status page with its settings."),
    Tool::reads("get_status_page_overview", "What visitors see", "/status_page.v1.StatusPageService/GetStatusPageOverview")
        .about("Returns the overall status of a page and that of each component, as visitors see it."),
    Tool::reads("list_components", "List components", "/status_page.v1.StatusPageService/ListComponents")
        .about("Lists the components of a status page: the lines of the page, with or without a monitor. Reports and maintenance name them by ID."),
    Tool::reads("list_component_groups", "List component groups", "/status_page.v1.StatusPageService/ListComponentGroups")
        .about("Lists the groups of components of a status page."),
    Tool::reads("list_regions", "List regions", "/region.v1.RegionService/ListRegions")
        .about("Lists the regions that checks may run from, and the probes that serve them."),
    Tool::reads("list_probes", "List probes", "/probe.v1.ProbeService/ListProbes")
        .about("Lists the probes in other places, with the time at which each was last seen."),
    Tool::adds("trigger_monitor", "Check a monitor now", "/monitor.v1.MonitorService/TriggerMonitor")
        .about("Checks a monitor now from all its regions and returns the results. It sends requests to the monitored host, and the results count for the status.")
        .untrusted().reaches_world(),
    Tool::adds("create_http_monitor", "Create an HTTP monitor", "/monitor.v1.MonitorService/CreateHttpMonitor")
        .about("Creates a monitor of a URL. It runs only with `active: true`.").reaches_world(),
    Tool::adds("create_tcp_monitor", "Create a TCP monitor", "/monitor.v1.MonitorService/CreateTcpMonitor")
        .about("Creates a monitor of a TCP port. It runs only with `active: true`.").reaches_world(),
    Tool::adds("create_dns_monitor", "Create a DNS monitor", "/monitor.v1.MonitorService/CreateDnsMonitor")
        .about("Creates a monitor of the DNS records of a name. It runs only with `active: true`.").reaches_world(),
    Tool::adds("create_heartbeat_monitor", "Create a heartbeat monitor", "/monitor.v1.MonitorService/CreateHeartbeatMonitor")
        .about("Creates a monitor that waits for calls of its `url`, which a job such as a cron job must make. It runs only with `active: true`. The result omits the `url`, which is a secret: a person copies it from the monitor's page."),
    Tool::destroys("update_http_monitor", "Update an HTTP monitor", "/monitor.v1.MonitorService/UpdateHttpMonitor")
        .about("Changes exactly the given fields of an HTTP monitor; lists are replaced as a whole. To pause it, call `pause_monitor`.")
        .reaches_world().without(&[ACTIVE]),
    Tool::destroys("update_tcp_monitor", "Update a TCP monitor", "/monitor.v1.MonitorService/UpdateTcpMonitor")
        .about("Changes exactly the given fields of a TCP monitor; lists are replaced as a whole. To pause it, call `pause_monitor`.")
        .reaches_world().without(&[ACTIVE]),
    Tool::destroys("update_dns_monitor", "Update a DNS monitor", "/monitor.v1.MonitorService/UpdateDnsMonitor")
        .about("Changes exactly the given fields of a DNS monitor; lists are replaced as a whole. To pause it, call `pause_monitor`.")
        .reaches_world().without(&[ACTIVE]),
    Tool::destroys("update_heartbeat_monitor", "Update a heartbeat monitor", "/monitor.v1.MonitorService/UpdateHeartbeatMonitor")
        .about("Changes exactly the given fields of a heartbeat monitor; lists are replaced as a whole. To pause it, call `pause_monitor`.")
        .without(&[ACTIVE]),
    Tool::destroys("rotate_heartbeat_url", "Replace the URL of a heartbeat monitor", "/monitor.v1.MonitorService/RotateHeartbeatUrl")
        .about("Gives a heartbeat monitor a new secret URL. Jobs that call the previous one are refused at once, so change them right after. The result omits the URL: a person copies it from the monitor's page."),
    Tool::new("pause_monitor", "Pause a monitor", Effect::Adds, Action::Pause)
        .about("Stops the checks of a monitor of any kind. Its settings and history stay. If the monitor is down, its incident closes, and the channels that sent its opening send its end.")
        .notifies(Notice::Certain),
    Tool::new("resume_monitor", "Resume a monitor", Effect::Adds, Action::Resume)
        .about("Starts the checks of a paused monitor of any kind again.").reaches_world(),
    Tool::destroys("delete_monitor", "Delete a monitor", "/monitor.v1.MonitorService/DeleteMonitor")
        .about("Deletes a monitor for good. If it is down, its incident closes, and the channels that sent its opening send its end. To stop its checks only, pause it.")
        .notifies(Notice::Certain),
    Tool::adds("acknowledge_incident", "Acknowledge an incident", "/incident.v1.IncidentService/AcknowledgeIncident")
        .about("Records that somebody works on an incident, which stops its reminders."),
    Tool::destroys("resolve_incident", "Resolve an incident", "/incident.v1.IncidentService/ResolveIncident")
        .about("Closes an incident whatever the checks say, for good. The channels that sent its opening send its end.")
        .notifies(Notice::Certain),
    Tool::adds("comment_incident", "Comment on an incident", "/incident.v1.IncidentService/CommentIncident")
        .about("Adds a comment to the timeline of an incident. Members read it, visitors do not."),
    Tool::adds("create_status_report", "Publish a status report", "/status_report.v1.StatusReportService/CreateStatusReport")
        .about("Publishes a report about an outage on a status page, with its first update. Visitors see it at once; `notify` decides about messages to subscribers.")
        .notifies(Notice::Chosen),
    Tool::adds("add_status_report_update", "Publish an update of a report", "/status_report.v1.StatusReportService/AddStatusReportUpdate")
        .about("Publishes the next update of a report, such as `resolved`. Visitors see it at once; `notify` decides about messages to subscribers.")
        .notifies(Notice::Chosen),
    Tool::destroys("update_status_report", "Correct a status report", "/status_report.v1.StatusReportService/UpdateStatusReport")
        .about("Changes the title or the components of a report without a new update. Visitors see it at once; nobody is notified."),
    Tool::adds("create_maintenance", "Plan maintenance", "/maintenance.v1.MaintenanceService/CreateMaintenance")
        .about("Plans a maintenance, once or repeated. Alerts of its monitors wait meanwhile. Pages with a covered component announce it to their subscribers.")
        .notifies(Notice::Certain),
    Tool::destroys("delete_maintenance", "Delete maintenance", "/maintenance.v1.MaintenanceService/DeleteMaintenance")
        .about("Deletes a maintenance and ends its current window. Alerts of monitors that are still down are sent.")
        .notifies(Notice::Certain),
    Tool::adds("test_channel", "Test a channel", "/notification.v1.NotificationService/TestNotification")
        .about("Sends a test message through a stored channel now, and returns the answer of the receiver.")
        .untrusted().notifies(Notice::Certain).without(&["notification"]),
];
