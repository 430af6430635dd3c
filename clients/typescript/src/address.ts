// The service's addresses: the base of its RPC, and `/v1` beside it.

import { environment } from "./environment.js";
import { invalid } from "./errors.js";

/** Default address: a server on this machine. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8080/rpc";

/** Addresses without a trailing slash. */
export interface Address {
  /** Base of method paths, such as `https://up.example/rpc`. */
  readonly rpc: string;
  /** Base of `/v1`: the same without a trailing `/rpc`. */
  readonly host: string;
}

/** Returns the effective address: the given one, the environment's, or that of this machine. */
export function addressOf(baseUrl: string | undefined): Address {
  if (baseUrl !== undefined) {
    return parse(baseUrl, "baseUrl");
  }
  const variable = environment("SERVICE_API_URL");
  return parse(variable ?? DEFAULT_BASE_URL, "SERVICE_API_URL");
}

function parse(given: string, name: string): Address {
  let url: URL | undefined;
  try {
    url = new URL(given);
  } catch {
    // Reported below, with the form of an address.
  }
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalid(
      `\`${name}\` must be an http or https address such as ${DEFAULT_BASE_URL} (given: \`${given}\`)`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid(`\`${name}\` must not hold credentials; the API key goes into \`apiKey\``);
  }
  const rpc = (url.origin + url.pathname).replace(/\/+$/, "");
  return { rpc, host: rpc.replace(/\/rpc$/, "") };
}
