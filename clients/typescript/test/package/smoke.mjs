// A little of everything that the client does, with its result: the same program for every runtime. It uses
// only what all of them have.
import { createServiceClient, isNotFound, isUnauthenticated, PERIODICITIES, verifyWebhook } from "@aloft/client";

/** Runs against a server and returns the same everywhere. */
export async function smoke({ baseUrl, key, name }) {
  const client = createServiceClient({ apiKey: key, baseUrl });
  const service = client.monitor.v1.MonitorService;
  const { monitor } = await service.createTcpMonitor({
    monitor: { name, uri: "db.example.com:5432", periodicity: PERIODICITIES[1] },
  });
  const seen = [];
  for await (const { tcpMonitors } of service.listMonitors({ limit: 1 })) seen.push(...tcpMonitors);
  await service.deleteMonitor({ id: monitor.id });
  const gone = await failure(service.getMonitor({ id: monitor.id }));
  const stranger = await failure(createServiceClient({ baseUrl }).whoami());
  const { actor } = await client.whoami();
  return {
    made: monitor.periodicity,
    found: seen.some(({ id }) => id === monitor.id),
    gone: isNotFound(gone) && [gone.code, gone.reason, gone.status, typeof gone.requestId],
    stranger: isUnauthenticated(stranger) && stranger.reason,
    scopes: actor.scopes,
    ended: (await failure(service.listMonitors({}, { signal: AbortSignal.abort() }))).code,
    webhook: await webhook(),
  };
}

async function failure(call) {
  try {
    return await call;
  } catch (error) {
    return error;
  }
}

/** A webhook signed here is verified, and a changed one is not. */
async function webhook() {
  const bytes = new Uint8Array(32).fill(7);
  const secret = `whsec_${btoa(String.fromCharCode(...bytes))}`;
  const body = JSON.stringify({
    version: 1,
    type: "channel.test",
    timestamp: new Date().toISOString(),
    data: { channel: "chn_1", link: null, events: [] },
  });
  const id = "msg_1";
  const seconds = Math.floor(Date.now() / 1000);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["sign"]);
  const signed = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${seconds}.${body}`));
  const signature = `v1,${btoa(String.fromCharCode(...new Uint8Array(signed)))}`;
  const headers = { "webhook-id": id, "webhook-timestamp": `${seconds}`, "webhook-signature": signature };
  const event = await verifyWebhook({ headers, body, secret });
  const forged = await failure(verifyWebhook({ headers, body: `${body} `, secret }));
  return [event.type, forged.code, forged.reason];
}
