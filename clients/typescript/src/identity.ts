// `/v1` of the same host: who a key is, and the end of one (specification §4.1, §4.2).

import { tried, type Traits } from "./call.js";
import { invalid, isServiceError } from "./errors.js";
import type { Scope } from "./gen/words.js";
import { headersOf, KEY_HEADER } from "./headers.js";
import type { CallOptions, Settings } from "./options.js";
import { send, type Sent } from "./wire.js";

/** Whose key it is, and what it may do. */
export interface Identity {
  /** Name of the workspace. */
  name: string;
  /** Slug of the workspace. */
  slug: string;
  /** Plan of the workspace. */
  plan: string;
  /** Who calls. */
  actor: {
    /** `apiKey` for a key. */
    type: "apiKey" | (string & {});
    /** Identifier of the key, `key_…`; not the key itself. */
    keyId: string;
    /** What the key may do. */
    scopes: Scope[];
  };
}

/** Asks who the key of the call is. */
export async function whoami(settings: Settings, options: CallOptions): Promise<Identity> {
  return (await request(settings, "GET", "/v1/whoami", options)) as Identity;
}

/** Revokes a key, also one that was revoked before: of its own, a repetition is told just that. */
export async function revokeKey(settings: Settings, id: string, options: CallOptions): Promise<void> {
  if (typeof id !== "string" || id === "") {
    throw invalid("`id` must be the identifier of a key, `key_…`, such as `whoami` answers");
  }
  await request(settings, "DELETE", `/v1/api-key/${encodeURIComponent(id)}`, options, (error, key) => {
    return isServiceError(error) && error.reason === "KEY_REVOKED" && isOf(key, id);
  });
}

/** Whether the text of a key is of the one with this identifier: it carries the part behind the prefix. */
function isOf(key: string | undefined, id: string): boolean {
  const [, carried] = id.split("_");
  return carried !== undefined && key?.split("_")[1] === carried;
}

function request(
  settings: Settings,
  verb: Sent["verb"],
  path: string,
  options: CallOptions,
  isDone?: (error: unknown, key: string | undefined) => boolean,
) {
  const url = settings.address.host + path;
  const headers = headersOf(settings.apiKey, options.headers);
  const traits: Traits = {
    name: `${verb} ${path}`,
    isSafe: true,
    waits: false,
    isDone: (error) => isDone?.(error, headers[KEY_HEADER]) ?? false,
  };
  return tried(settings, traits, options, ({ signal }) =>
    send(settings.fetch, { verb, url, headers, signal, method: traits.name }),
  );
}
