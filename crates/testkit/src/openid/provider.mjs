// An OpenID provider for tests, with two clients. It signs everybody in as the account that the test names, and
// asks nothing. The test passes the folder of the packages, the redirect URI and the clients. It prints its port,
// reads commands as lines of JSON from stdin, answers each with a line, and exits when stdin ends.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { packages, redirectUris, clients } = JSON.parse(process.argv[2]);
const require = createRequire(packages + "/");
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")).href);

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
console.warn = console.info = () => {};

/** Claims of the account that signs in next. */
let account = null;
/** ID token that replaces the next one. */
let replacement = null;

const server = createServer();
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const { port } = server.address();

const create = (keys) => new Provider(`http://127.0.0.1:${port}`, {
  ...keys,
  clients: clients.map(({ id, secret }) => ({
    client_id: id,
    client_secret: secret,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code"],
    response_types: ["code"],
  })),
  claims: { openid: ["sub", "groups"], email: ["email", "email_verified"], profile: ["name"] },
  scopes: ["openid", "email", "profile"],
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...account, sub }) }),
  cookies: { keys: ["only for tests"] },
});

let provider, callback;
/** Begins to use a provider. Sessions and codes are shared, as after a change of its keys. */
const use = (created) => {
  created.use(async (ctx, next) => {
    await next();
    if (ctx.path !== "/token" || !ctx.body?.id_token || !replacement) return;
    ctx.body = { ...ctx.body, id_token: replacement };
    replacement = null;
  });
  provider = created;
  callback = created.callback();
};
use(create({}));

server.on("request", async (request, response) => {
  if (!request.url.startsWith("/interaction/")) return callback(request, response);
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: account.sub, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { login: { accountId: account.sub }, consent });
});

say({ port });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.account) account = command.account;
  if (command.newKeys) {
    const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
    use(create({ jwks: { keys: [{ ...key, use: "sig" }] } }));
  }
  if (command.replacement) replacement = command.replacement;
  say({ done: true });
}
process.exit(0);
