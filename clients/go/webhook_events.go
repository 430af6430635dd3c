package aloft

import "time"

// WebhookEvent is the body of a webhook: *[ChannelEvent] or *[PageWebhook]. A version only gains fields.
type WebhookEvent interface {
	// EventType returns the type, such as monitor.error.
	EventType() string
	isWebhookEvent()
}

// Types of the events of channels.
const (
	ChannelMonitorError         = "monitor.error"
	ChannelMonitorDegraded      = "monitor.degraded"
	ChannelMonitorStillDegraded = "monitor.still_degraded"
	ChannelMonitorRecovered     = "monitor.recovered"
	// ChannelMonitorDigest: a digest of several events of one minute.
	ChannelMonitorDigest = "monitor.digest"
	ChannelTest          = "channel.test"
)

// Types of the events of subscribers of a status page.
const (
	PageReportOpened         = "page.report.opened"
	PageReportUpdated        = "page.report.updated"
	PageReportResolved       = "page.report.resolved"
	PageMaintenanceScheduled = "page.maintenance.scheduled"
	PageMaintenanceStarted   = "page.maintenance.started"
	PageMaintenanceCompleted = "page.maintenance.completed"
	PageIncidentOpened       = "page.incident.opened"
	PageIncidentClosed       = "page.incident.closed"
	// PageDigest: a digest of several incidents of a minute.
	PageDigest = "page.digest"
)

// ChannelEvent is the body for a channel of the kind webhook.
type ChannelEvent struct {
	// Version of this format: 1.
	Version int `json:"version"`
	// Type of the event, such as [ChannelMonitorError].
	Type string `json:"type"`
	// Timestamp is the time of the event; for a digest, of its last event. Zero if it is unknown.
	Timestamp time.Time   `json:"timestamp"`
	Data      ChannelData `json:"data"`
}

// ChannelData is the content of a [ChannelEvent].
type ChannelData struct {
	// Channel is the ID of the channel, chn_….
	Channel string `json:"channel"`
	// Link to a public page; empty without one, and for tests.
	Link string `json:"link"`
	// Events has one event, or those of a digest, oldest first.
	Events []MonitorEvent `json:"events"`
}

// MonitorEvent is an event of a monitor.
type MonitorEvent struct {
	// Event is error, degraded, still_degraded, recovered or test.
	Event string `json:"event"`
	// At is the time of the event. Zero if it is unknown.
	At time.Time `json:"at"`
	// Workspace is the name of the workspace.
	Workspace string `json:"workspace"`
	// Monitor is the monitor at that time.
	Monitor EventMonitor `json:"monitor"`
	// Incident is the ID of the incident, inc_…; empty outside one. The same in error, still_degraded and recovered.
	Incident string `json:"incident"`
	// BeganAt is the start of the state that it reports.
	BeganAt time.Time `json:"began_at"`
	// DurationMs is the duration of that state so far, in milliseconds.
	DurationMs int64 `json:"duration_ms"`
	// CloseReason is recovered, degraded, paused, deleted or resolved, and only present for recovered.
	CloseReason string `json:"close_reason"`
	// Reminder is 0 for the first message, then the number of the reminder.
	Reminder int `json:"reminder"`
	// Summary is the reason, as a sentence.
	Summary string `json:"summary"`
	// Regions has the latest observation of each region, failing ones first.
	Regions []EventRegion `json:"regions"`
}

// EventMonitor is a monitor in an event.
type EventMonitor struct {
	// ID of the monitor, mon_….
	ID string `json:"id"`
	// Name of the monitor.
	Name string `json:"name"`
	// Kind of check: http, tcp, dns or heartbeat.
	Kind string `json:"kind"`
	// Target is a URL, host:port or a domain name, without credentials. Of a heartbeat monitor, it says how often
	// calls are expected.
	Target string `json:"target"`
	// Method of the request; only for http.
	Method string `json:"method"`
}

// EventRegion is the observation of a region in an event.
type EventRegion struct {
	// Region is the name, such as fly-ams.
	Region string `json:"region"`
	// Place is the probe, if it replaces the region or serves several, such as “this server”; otherwise empty.
	Place string `json:"place"`
	// Failing reports whether its check failed.
	Failing bool `json:"failing"`
	// Reason why it was not a success.
	Reason string `json:"reason"`
	// Status is the HTTP status of the response; only for http.
	Status *int `json:"status"`
	// LatencyMs is the duration of the whole exchange, in milliseconds.
	LatencyMs *int64 `json:"latency_ms"`
}

// PageWebhook is the body for a subscriber of a status page.
type PageWebhook struct {
	// Version of this format: 1.
	Version int `json:"version"`
	// Type of the event, such as [PageIncidentOpened], or [PageDigest].
	Type string `json:"type"`
	// Timestamp is the time of the last event. Zero if it is unknown.
	Timestamp time.Time `json:"timestamp"`
	Data      PageData  `json:"data"`
}

// PageData is the content of a [PageWebhook].
type PageData struct {
	// Subscriber is the recipient, sub_….
	Subscriber string `json:"subscriber"`
	// Page has a link if the server has a public address.
	Page EventPage `json:"page"`
	// Events has one event, or those of a digest, oldest first.
	Events []PageEvent `json:"events"`
}

// EventPage is a status page in an event.
type EventPage struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Link  string `json:"link"`
}

// PageEvent is an event of a status page: of the one of Report, Maintenance and Incident that is not nil.
type PageEvent struct {
	// Type of the event, such as [PageIncidentOpened].
	Type string `json:"type"`
	// At is the time of the event. Zero if it is unknown.
	At time.Time `json:"at"`
	// Components are the affected components; empty: the whole page.
	Components  []EventComponent  `json:"components"`
	Report      *EventReport      `json:"report,omitempty"`
	Maintenance *EventMaintenance `json:"maintenance,omitempty"`
	Incident    *EventIncident    `json:"incident,omitempty"`
}

// EventComponent is a component in an event.
type EventComponent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// EventReport is a report with its latest update.
type EventReport struct {
	ID     string `json:"id"`
	Update string `json:"update"`
	Title  string `json:"title"`
	// Status is investigating, identified, monitoring or resolved.
	Status string `json:"status"`
	// Text is Markdown.
	Text string `json:"text"`
}

// EventMaintenance is a maintenance with the affected window.
type EventMaintenance struct {
	ID          string    `json:"id"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	From        time.Time `json:"from"`
	Until       time.Time `json:"until"`
}

// EventIncident is an incident in an event.
type EventIncident struct {
	ID      string    `json:"id"`
	BeganAt time.Time `json:"began_at"`
}

// EventType returns the type of the event.
func (event *ChannelEvent) EventType() string { return event.Type }
func (event *ChannelEvent) isWebhookEvent()   {}

// EventType returns the type of the event.
func (event *PageWebhook) EventType() string { return event.Type }
func (event *PageWebhook) isWebhookEvent()   {}
