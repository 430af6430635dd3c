// The client: every service under its package's name, built from the table of methods.

import { call } from "./call.js";
import { SERVICES } from "./gen/methods.js";
import type { Services } from "./gen/services.js";
import { type Identity, revokeKey, whoami } from "./identity.js";
import { is, type Method, type Methods, PAGES } from "./method.js";
import { type CallOptions, type ClientOptions, type Settings, settingsOf } from "./options.js";
import { pagesOf } from "./pages.js";

/** All services of one address. */
export interface ServiceClient extends Services {
  /** Returns the identity and the scopes of the key. */
  whoami(options?: CallOptions): Promise<Identity>;
  /**
   * Revokes a key of the workspace by its ID, `key_…`. A read-only key may revoke only itself.
   */
  revokeKey(id: string, options?: CallOptions): Promise<void>;
}

/**
 * Creates a client of the service. It sends nothing before its first call. Without a key, each call must
 * carry one in its headers.
 *
 * ```ts
 * const client = createServiceClient({ apiKey: "…", baseUrl: "https://up.example/rpc" });
 * const { httpMonitors } = await client.monitor.v1.MonitorService.listMonitors({});
 * ```
 */
export function createServiceClient(options: ClientOptions = {}): ServiceClient {
  const settings = settingsOf(options);
  const client: Record<string, unknown> = {
    whoami: (options: CallOptions = {}) => whoami(settings, options),
    revokeKey: (id: string, options: CallOptions = {}) => revokeKey(settings, id, options),
  };
  for (const [name, path, methods] of SERVICES) {
    const service = path.slice(path.lastIndexOf(".") + 1);
    client[name] = { v1: { [service]: serviceOf(settings, path, methods) } };
  }
  return client as unknown as ServiceClient;
}

/** Builds a service with a function for each of its methods. */
function serviceOf(settings: Settings, path: string, methods: Methods): object {
  const service: Record<string, unknown> = {};
  for (const [name, [traits, request]] of Object.entries(methods)) {
    service[name.charAt(0).toLowerCase() + name.slice(1)] = caller(settings, {
      path: `${path}/${name}`,
      traits,
      request,
    });
  }
  return service;
}

function caller(settings: Settings, method: Method) {
  const single = (request: object = {}, options: CallOptions = {}) =>
    call(settings, method, request, options);
  if (!is(method, PAGES)) {
    return single;
  }
  return (request: object = {}, options: CallOptions = {}) =>
    pagesOf(request, (page) => single(page, options));
}
