// The early end of a call: by its timeout, by a monotonic clock, or by the caller's signal.

import { ServiceError } from "./errors.js";

/** Longest duration that timers support; a longer timeout is no limit. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The time limit of a call with all its attempts. Must be stopped when the call is over. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #method: string;
  readonly #timeoutMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #endsAt: number;
  /** Fails the race. A listener of the signal would take longer than everything else here. */
  #fail: ((error: unknown) => void) | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  /** Failure of the last attempt. */
  #why: unknown;

  constructor(method: string, timeoutMs: number, outer: AbortSignal | undefined) {
    this.#method = method;
    this.#timeoutMs = timeoutMs > 0 && timeoutMs <= TIMER_MS_MAX ? timeoutMs : Infinity;
    this.#endsAt = performance.now() + this.#timeoutMs;
    this.#outer = outer;
    if (outer?.aborted) {
      this.#cancel();
      return;
    }
    outer?.addEventListener("abort", this.#cancel);
    if (this.#timeoutMs !== Infinity) {
      this.#timer = setTimeout(this.#expire, this.#timeoutMs);
    }
  }

  /** Fires when the call must end; its reason is the error of the call. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns the remaining time in whole milliseconds; undefined without a limit. */
  get remainingMs(): number | undefined {
    if (this.#timeoutMs === Infinity) {
      return undefined;
    }
    return Math.max(1, Math.ceil(Math.min(this.#endsAt - performance.now(), this.#timeoutMs)));
  }

  /** Returns the outcome of `work` or the end of the call, whichever is first. One race at a time. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      if (this.signal.aborted) {
        reject(this.signal.reason);
      }
      work.then(resolve, reject);
    });
  }

  /** Waits. */
  async pause(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await this.race(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Records the failure of an attempt, which becomes the cause if no time is left for another one. */
  failed(error: unknown): void {
    this.#why = error;
  }

  /** Ends the time limit: the call is over. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#cancel);
  }

  readonly #cancel = () => {
    const reason: unknown = this.#outer?.reason;
    // The error of `AbortSignal.timeout`, which also ends the time.
    const isTime = (reason as { name?: unknown } | undefined)?.name === "TimeoutError";
    const code = isTime ? "deadline_exceeded" : "canceled";
    const cause = (isTime ? this.#why : undefined) ?? reason;
    this.#end(new ServiceError("the call was ended by its signal", { code, method: this.#method, cause }));
  };

  readonly #expire = () => {
    const within = `the call did not come to its end within ${this.#timeoutMs} ms`;
    const message = `${within}; \`timeoutMs\` gives it longer`;
    const cause = this.#why;
    this.#end(new ServiceError(message, { code: "deadline_exceeded", method: this.#method, cause }));
  };

  #end(error: ServiceError): void {
    this.#controller.abort(error);
    this.#fail?.(error);
  }
}
