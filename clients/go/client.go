package aloft

import (
	"connectrpc.com/connect"

	"aloft.dev/client/gen/api_key/v1/apikeyv1connect"
	"aloft.dev/client/gen/audit/v1/auditv1connect"
	"aloft.dev/client/gen/configuration/v1/configurationv1connect"
	"aloft.dev/client/gen/incident/v1/incidentv1connect"
	"aloft.dev/client/gen/maintenance/v1/maintenancev1connect"
	"aloft.dev/client/gen/member/v1/memberv1connect"
	"aloft.dev/client/gen/monitor/v1/monitorv1connect"
	"aloft.dev/client/gen/notification/v1/notificationv1connect"
	"aloft.dev/client/gen/probe/v1/probev1connect"
	"aloft.dev/client/gen/region/v1/regionv1connect"
	"aloft.dev/client/gen/status_page/v1/statuspagev1connect"
	"aloft.dev/client/gen/status_report/v1/statusreportv1connect"
	"aloft.dev/client/gen/workspace/v1/workspacev1connect"
)

// Client has all services of one address. It is safe for concurrent use. The fields are interfaces, so tests may
// replace them.
type Client struct {
	APIKey        apikeyv1connect.ApiKeyServiceClient
	Audit         auditv1connect.AuditServiceClient
	Configuration configurationv1connect.ConfigurationServiceClient
	Incident      incidentv1connect.IncidentServiceClient
	Maintenance   maintenancev1connect.MaintenanceServiceClient
	Member        memberv1connect.MemberServiceClient
	Monitor       monitorv1connect.MonitorServiceClient
	Notification  notificationv1connect.NotificationServiceClient
	Probe         probev1connect.ProbeServiceClient
	Region        regionv1connect.RegionServiceClient
	StatusPage    statuspagev1connect.StatusPageServiceClient
	StatusReport  statusreportv1connect.StatusReportServiceClient
	Workspace     workspacev1connect.WorkspaceServiceClient

	v1 *v1
}

// New creates a client of the service. It sends nothing before its first call. Without a key, each call must carry one
// in its headers. It fails with [ErrInvalidArgument] if an option or the environment is invalid.
func New(options ...Option) (*Client, error) {
	settings, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	return newClient(settings)
}

func newClient(settings settings) (*Client, error) {
	address, err := addressOf(settings.baseURL)
	if err != nil {
		return nil, err
	}
	caller := &caller{apiKey: settings.apiKey, defaults: settings.calls, clock: settings.clock}
	exchanger := newExchanger(settings.httpClient, settings.clock)
	http := rpcExchanger{exchanger: exchanger, mediaType: mediaProto}
	// net/http decompresses responses, also those of proxies.
	own := []connect.ClientOption{connect.WithInterceptors(caller), connect.WithAcceptCompression("gzip", nil, nil)}
	if settings.isJSON {
		http.mediaType = mediaJSON
		own = append(own, connect.WithProtoJSON())
	}
	return &Client{
		APIKey:        apikeyv1connect.NewApiKeyServiceClient(http, address.rpc, own...),
		Audit:         auditv1connect.NewAuditServiceClient(http, address.rpc, own...),
		Configuration: configurationv1connect.NewConfigurationServiceClient(http, address.rpc, own...),
		Incident:      incidentv1connect.NewIncidentServiceClient(http, address.rpc, own...),
		Maintenance:   maintenancev1connect.NewMaintenanceServiceClient(http, address.rpc, own...),
		Member:        memberv1connect.NewMemberServiceClient(http, address.rpc, own...),
		Monitor:       monitorv1connect.NewMonitorServiceClient(http, address.rpc, own...),
		Notification:  notificationv1connect.NewNotificationServiceClient(http, address.rpc, own...),
		Probe:         probev1connect.NewProbeServiceClient(http, address.rpc, own...),
		Region:        regionv1connect.NewRegionServiceClient(http, address.rpc, own...),
		StatusPage:    statuspagev1connect.NewStatusPageServiceClient(http, address.rpc, own...),
		StatusReport:  statusreportv1connect.NewStatusReportServiceClient(http, address.rpc, own...),
		Workspace:     workspacev1connect.NewWorkspaceServiceClient(http, address.rpc, own...),
		v1:            &v1{caller: caller, exchanger: exchanger, host: address.host},
	}, nil
}
