// A mail server for tests. Like real ones, it requires STARTTLS and a login. The test passes the folder of
// the packages. The server prints lines of JSON: first its port, then each accepted message. It reads the
// commands to reject from stdin, and exits when stdin ends.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { packages, key, cert, user, password } = JSON.parse(process.argv[2]);
const require = createRequire(packages + "/");
const { SMTPServer } = require("smtp-server");
const { default: PostalMime } = await import(pathToFileURL(require.resolve("postal-mime")).href);

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const wrong = (code, text) => Object.assign(new Error(text), { responseCode: code });

/** Rejection of a command: `{ at, code, text, times }`. */
let trouble = null;

/** Returns the error for this command if the test wants a rejection. */
function refusal(at) {
  if (trouble?.at !== at || trouble.times === 0) return null;
  trouble.times -= 1;
  say({ refused: at });
  return wrong(trouble.code, trouble.text);
}

async function whole(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

async function take(stream, session) {
  const raw = await whole(stream);
  const refused = refusal("data");
  if (refused) throw refused;
  const mail = await PostalMime.parse(raw);
  say({
    mail: {
      from: session.envelope.mailFrom.address,
      to: session.envelope.rcptTo.map((to) => to.address),
      user: session.user,
      secure: session.secure,
      headers: mail.headers.map(({ key, value }) => [key, value]),
      subject: mail.subject ?? "",
      text: mail.text ?? "",
      html: mail.html ?? "",
      raw: raw.toString("latin1"),
    },
  });
  return "queued";
}

const server = new SMTPServer({
  key,
  cert,
  authMethods: ["PLAIN", "LOGIN"],
  disableReverseLookup: true,
  closeTimeout: 100,
  onAuth(auth, session, answer) {
    const known = auth.username === user && auth.password === password;
    const refused = refusal("auth") ?? (known ? null : wrong(535, "5.7.8 Authentication failed"));
    if (refused) answer(refused);
    else answer(null, { user: auth.username });
  },
  onRcptTo(address, session, answer) {
    answer(refusal("rcpt"));
  },
  onData(stream, session, answer) {
    take(stream, session).then((text) => answer(null, text), answer);
  },
});
server.on("error", (error) => say({ error: error.message }));
server.listen(0, "127.0.0.1", () => say({ port: server.server.address().port }));

const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  trouble = JSON.parse(line);
  say({ configured: true });
});
input.on("close", () => process.exit(0));
