// Calls a server with Node's `http` on persistent connections and prints the number of calls that got
// the expected response. The server refuses them all before it reads their bodies.
import { Agent, request } from "node:http";

// More large bodies at once would exceed the memory that the server gives to a workspace.
const agent = new Agent({ keepAlive: true, maxSockets: 2 });

function call({ url, key, bytes }) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": bytes };
    if (key !== "") headers["x-service-key"] = key;
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      response.on("error", reject);
      response.on("end", () => resolve(response.statusCode));
      response.resume();
    });
    sent.on("error", reject);
    sent.end(Buffer.alloc(bytes, "x"));
  });
}

let answered = 0;
for (const refusal of JSON.parse(process.env.REFUSALS)) {
  const all = Array.from({ length: refusal.calls }, () => call(refusal));
  for (const { status, value, reason } of await Promise.allSettled(all)) {
    if (status === "fulfilled" && refusal.statuses.includes(value)) answered += 1;
    else console.error(`${refusal.url}: ${value ?? reason?.stack} instead of ${refusal.statuses}`);
  }
}
agent.destroy();
console.log(answered);
