// `/v1` of the same host: the identity of a key, and its revocation (specification §4.1, §4.2).

import { tried, type Traits } from "./call.js";
import { invalid, isServiceError } from "./errors.js";
import type { Scope } from "./gen/words.js";
import { headersOf, KEY_HEADER } from "./headers.js";
import type { CallOptions, Settings } from "./options.js";
import { send, type Sent } from "./wire.js";

/** The workspace and the scopes of a key. */
export interface Identity {
  /** Name of the workspace. */
  name: string;
  /** Slug of the workspace. */
  slug: string;
  /** Plan of the workspace. */
  plan: string;
  /** The caller. */
  actor: {
    /** `apiKey` for a key. */
    type: "apiKey" | (string & {});
    /** ID of the key, `key_…`; not the key itself. */
    keyId: string;
    /** Scopes of the key. */
    scopes: Scope[];
  };
}

/** Returns the identity of the call's key. */
export async function whoami(settings: Settings, options: CallOptions): Promise<Identity> {
  return (await request(settings, "GET", "/v1/whoami", options)) as Identity;
}

/**
 * Revokes a key. Revoking a revoked key has no effect; for the call's own key, a retry gets
 * `unauthenticated`.
 */
export async function revokeKey(settings: Settings, id: string, options: CallOptions): Promise<void> {
  if (typeof id !== "string" || id === "") {
    throw invalid("`id` must be the identifier of a key, `key_…`, such as `whoami` answers");
  }
  await request(settings, "DELETE", `/v1/api-key/${encodeURIComponent(id)}`, options, (error, key) => {
    return isServiceError(error) && error.reason === "KEY_REVOKED" && isOf(key, id);
  });
}

/** Whether this key has this ID: its text contains the part after the prefix. */
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
