// Bad servers: each returns the given responses in order, then repeats the last one, and records its
// requests.
import { once } from "node:events";
import { createServer } from "node:http";

/** An error of the real server, with its reason. */
export function refusal(status, code, reason, headers = {}) {
  const value = Buffer.concat([field(1, reason), field(2, "aloft")]).toString("base64").replaceAll("=", "");
  const details = [{ type: "google.rpc.ErrorInfo", value }];
  return json(status, { code, message: `it is ${code}`, details }, headers);
}

/** JSON with this status. */
export function json(status, body, headers = {}) {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** A page of a proxy in front of the server. */
export function page(status, headers = {}) {
  return (response) => {
    response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers });
    response.end(`<!doctype html><title>${status}</title><h1>The proxy has an opinion</h1>`);
  };
}

/** A status without a body. */
export function empty(status) {
  return (response) => response.writeHead(status, { "content-type": "application/json" }).end();
}

/** A page that never ends. */
export function endless(text) {
  const much = text.repeat(10_000);
  return (response) => {
    response.writeHead(502, { "content-type": "text/html" });
    const more = () => {
      while (!response.destroyed && response.write(much));
    };
    response.on("drain", more);
    more();
  };
}

/** No response, forever. */
export const silence = () => {};

/** The beginning of a response, and then nothing more. */
export const stuck = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"httpMonitors":[');
};

/** The beginning of a response, and then the end of the connection. */
export const truncated = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"httpMonitors":[', () => response.socket.destroy());
};

/** Another response, byte by byte. */
export function dribbling(answer) {
  return (response) => {
    const text = JSON.stringify(answer);
    response.writeHead(200, { "content-type": "application/json", "content-length": String(text.length) });
    const next = (at) => {
      response.write(text[at]);
      if (at + 1 < text.length) setImmediate(next, at + 1);
      else response.end();
    };
    next(0);
  };
}

/** A complete response with half a text. */
export const cutOff = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"httpMonitors":[{"id":"mon_1"');
};

/** The end of the connection without a response. */
export const reset = (response) => response.socket.resetAndDestroy();

/** Starts one, which ends with its test. */
export async function badServer(t, ...answers) {
  const asked = [];
  const waiting = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push({ method: request.method, path: request.url, headers: request.headers, body });
    waiting.shift()?.();
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, baseUrl: `${origin}/rpc`, asked, next: () => new Promise((resolve) => waiting.push(resolve)) };
}

/** An address without a listener. */
export async function nobody() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}/rpc`;
}

/** A text as a field of a protobuf message. */
function field(number, text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}
