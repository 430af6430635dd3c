// The target of monitors and the receiver of channels: both on loopback, until their test ends.
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * A server that returns `status` for every path and 418 for `/status/418`, and never responds at `/silent`.
 * `received` has its requests, and `next()` returns the next one.
 */
export async function site(t, status) {
  const received = [];
  const waiting = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = Buffer.concat(chunks).toString("utf8");
    const message = { method: request.method, path: request.url, headers: request.headers, body };
    received.push(message);
    waiting.shift()?.(message);
    if (request.url.startsWith("/silent")) return;
    const asked = /^\/status\/(\d{3})$/u.exec(request.url)?.[1];
    response.writeHead(asked ? Number(asked) : status).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    received,
    next: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
