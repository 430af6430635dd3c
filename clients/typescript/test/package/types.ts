// A strict TypeScript program that uses the client. It is only compiled, in projects of all three kinds; each
// line with an expected error must be rejected.
import {
  createServiceClient,
  isInvalidArgument,
  isServiceError,
  LIMITS,
  PERIODICITIES,
  REGIONS,
  verifyWebhook,
  type CallOptions,
  type ClientOptions,
  type HttpMonitor,
  type Periodicity,
  type Region,
  type ServiceError,
  type WebhookEvent,
} from "@aloft/client";

export const options: ClientOptions = { apiKey: "aloft_key", baseUrl: "https://up.example/rpc", timeoutMs: 5_000 };
export const client = createServiceClient(options);
export const fromEnvironment = createServiceClient();

export async function monitors(): Promise<HttpMonitor[]> {
  const { httpMonitors, tcpMonitors, dnsMonitors, totalSize } = await client.monitor.v1.MonitorService.listMonitors({});
  const numbers: number = totalSize + tcpMonitors.length + dnsMonitors.length;
  const all: HttpMonitor[] = [];
  for await (const page of client.monitor.v1.MonitorService.listMonitors({ limit: 100 })) {
    all.push(...page.httpMonitors);
  }
  return numbers > 0 ? httpMonitors : all;
}

export async function create(call: CallOptions): Promise<string> {
  const { monitor } = await client.monitor.v1.MonitorService.createHttpMonitor(
    {
      monitor: {
        name: "Shop API",
        url: "https://example.com/health",
        periodicity: "30s",
        regions: ["fly-ams", "koyeb-fra"],
        statusCodeAssertions: [{ target: 200, comparator: "eq" }],
        active: true,
      },
    },
    call,
  );
  const timeout: number = monitor.timeout;
  const createdAt: string = monitor.createdAt;
  const periodicity: Periodicity = monitor.periodicity;
  return `${monitor.id} ${timeout} ${createdAt} ${periodicity}`;
}

export async function refused(): Promise<void> {
  const service = client.monitor.v1.MonitorService;
  // @ts-expect-error: no such periodicity
  await service.createTcpMonitor({ monitor: { name: "a", uri: "a.example:1", periodicity: "2m" } });
  // @ts-expect-error: no such region
  await service.createTcpMonitor({ monitor: { name: "a", uri: "a.example:1", periodicity: "1m", regions: ["moon"] } });
  // @ts-expect-error: a uri is required
  await service.createTcpMonitor({ monitor: { name: "a", periodicity: "1m" } });
  // @ts-expect-error: no such field
  await service.createTcpMonitor({ monitor: { name: "a", uri: "a.example:1", periodicity: "1m", colour: "blue" } });
  // @ts-expect-error: a number is not a bigint
  await service.listMonitors({ limit: 5n });
  // @ts-expect-error: there is no such method
  await service.singToMonitor({});
}

export async function everyService(): Promise<unknown[]> {
  return Promise.all([
    client.notification.v1.NotificationService.listNotifications({}),
    client.statusPage.v1.StatusPageService.listStatusPages({}),
    client.statusReport.v1.StatusReportService.listStatusReports({}),
    client.incident.v1.IncidentService.listIncidents({ state: "open" }),
    client.maintenance.v1.MaintenanceService.listMaintenances({}),
    client.region.v1.RegionService.listRegions({}),
    client.whoami().then(({ actor }) => actor.scopes.includes("write")),
    client.revokeKey("key_1"),
  ]);
}

export function describeError(error: unknown): string {
  if (isInvalidArgument(error)) {
    const code: "invalid_argument" = error.code;
    return `${code}: ${error.violations.map(({ field, description }) => `${field} ${description}`).join()}`;
  }
  const other: ServiceError | undefined = isServiceError(error) ? error : undefined;
  const wait: number | undefined = other?.retryAfterMs;
  return `${other?.code} ${other?.reason} ${other?.requestId} ${other?.status} ${wait}`;
}

export async function received(request: { headers: Headers; body: string }): Promise<string> {
  const event: WebhookEvent = await verifyWebhook({ ...request, secret: "whsec_c2VjcmV0" });
  return event.type;
}

export const regions: readonly Region[] = REGIONS;
export const periodicities: readonly Periodicity[] = PERIODICITIES;
export const longestName: number = LIMITS.monitor.name.max;
