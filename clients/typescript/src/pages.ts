// The result of a list method: the first page when awaited, all pages when iterated.

import { ServiceError } from "./errors.js";

/**
 * Pages of a list. As a promise, it is the first page; as an async iterable, it is all of them, each fetched
 * when the previous one is used up. Nothing is sent before either, and the first page is fetched once.
 */
export interface Pages<Page> extends Promise<Page>, AsyncIterable<Page> {}

/** The paging fields of requests and responses. */
interface Turning {
  readonly pageToken?: unknown;
  readonly offset?: unknown;
  readonly nextPageToken?: unknown;
}

/** Creates pages that `ask` fetches: the first with `request` unchanged, the others with their token. */
export function pagesOf(request: object, ask: (request: object) => Promise<object>): Pages<object> {
  return new Asked(request, ask);
}

class Asked implements Pages<object> {
  readonly [Symbol.toStringTag] = "Pages";
  readonly #request: object;
  readonly #ask: (request: object) => Promise<object>;
  #first: Promise<object> | undefined;

  constructor(request: object, ask: (request: object) => Promise<object>) {
    this.#request = request;
    this.#ask = ask;
  }

  then<Kept = object, Lost = never>(
    kept?: ((page: object) => Kept | PromiseLike<Kept>) | null,
    lost?: ((error: unknown) => Lost | PromiseLike<Lost>) | null,
  ): Promise<Kept | Lost> {
    return this.#page().then(kept, lost);
  }

  catch<Lost = never>(lost?: ((error: unknown) => Lost | PromiseLike<Lost>) | null): Promise<object | Lost> {
    return this.#page().catch(lost);
  }

  finally(then?: (() => void) | null): Promise<object> {
    return this.#page().finally(then);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<object, void, undefined> {
    // The token already contains the position of an offset.
    const { offset: _, ...rest } = this.#request as Turning;
    let page = await this.#page();
    let token: unknown;
    for (;;) {
      yield page;
      const next = (page as Turning).nextPageToken;
      if (!next) {
        return;
      }
      if (next === token) {
        throw new ServiceError("the service gave out the same page twice", { code: "internal" });
      }
      token = next;
      page = await this.#ask({ ...rest, pageToken: next });
    }
  }

  #page(): Promise<object> {
    return (this.#first ??= this.#ask(this.#request));
  }
}
