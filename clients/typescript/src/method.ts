// The run-time description of a method; `gen/methods.ts` has them all.

/** It may not be executed twice. */
export const ONCE = 0;
/** It changes nothing. */
export const READS = 1;
/** A second execution has no further effect. */
export const REPEATABLE = 2;
/** It creates something, once per idempotency key. */
export const CREATES = 3;
/** The response is one page of several. */
export const PAGES = 4;
/** The call waits for checks. */
export const WAITS = 8;
/** It deletes something and its response is empty, so `not_found` shows that it is done. */
export const ENDS = 16;

/** The low bits of a method's traits: how it may be retried. */
const REPETITION = 3;

/** The fields of a request message by name: 1, or the fields of the nested message. */
export interface Shape {
  readonly [field: string]: 1 | Shape;
}

/** A method of the service. */
export interface Method {
  /** Path below the base address without a leading slash, such as `monitor.v1.MonitorService/GetMonitor`. */
  readonly path: string;
  /** How it may be retried, and its other traits. */
  readonly traits: number;
  /** The fields of its request. */
  readonly request: Shape;
}

/** A service in `gen/methods.ts`: its methods with their traits and request fields. */
export type Methods = Readonly<Record<string, readonly [traits: number, request: Shape]>>;

/** How a method may be retried: one of the first four traits. */
export function repetition(method: Pick<Method, "traits">): number {
  return method.traits & REPETITION;
}

/** Whether the method has this trait. */
export function is(method: Method, trait: typeof ENDS | typeof PAGES | typeof WAITS): boolean {
  return (method.traits & trait) !== 0;
}
