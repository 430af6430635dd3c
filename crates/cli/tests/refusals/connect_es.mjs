// Calls a server with connect-es over HTTP/1.1 and prints the number of calls that got a response. The
// server refuses them all before it reads their bodies. The first argument is the folder of the packages.
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);
const { ConnectError } = require("@connectrpc/connect");
const { createConnectTransport } = require("@connectrpc/connect-node");
const { file_google_protobuf_wrappers } = require("@bufbuild/protobuf/wkt");

const StringValue = file_google_protobuf_wrappers.messages.find(({ name }) => name === "StringValue");

let answered = 0;
for (const { url, key, statuses, bytes, calls } of JSON.parse(process.env.REFUSALS)) {
  // connect-es composes the URL from the names of the service and the method.
  const [baseUrl, service, name] = /^(.*)\/([^/]+)\/([^/]+)$/u.exec(url).slice(1);
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", sendCompression: null });
  const method = {
    kind: "rpc", name, localName: name, methodKind: "unary", parent: { typeName: service },
    input: StringValue, output: StringValue, idempotency: 0,
  };
  const header = key === "" ? {} : { "x-service-key": key };
  for (let call = 0; call < calls; call += 1) {
    try {
      await transport.unary(method, undefined, undefined, header, { value: "x".repeat(bytes) });
      console.error(`${url}: the call succeeded instead of ${statuses}`);
    } catch (error) {
      const reason = ConnectError.from(error);
      // Only a response has this header.
      if (reason.metadata.has("x-request-id")) answered += 1;
      else console.error(`${url}: ${reason.stack}`);
    }
  }
}
console.log(answered);
