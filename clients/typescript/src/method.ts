// What is known of a method at run time; `gen/methods.ts` has them all.

/** It may not be made twice. */
export const ONCE = 0;
/** It changes nothing. */
export const READS = 1;
/** Made twice, it does what it does once. */
export const REPEATABLE = 2;
/** It makes something, once for each idempotency key. */
export const CREATES = 3;
/** The answer is one page of several. */
export const PAGES = 4;
/** The call waits for checks. */
export const WAITS = 8;
/** It takes something away and answers nothing, so that who finds nothing knows that it is done. */
export const ENDS = 16;

/** The low bits of a method's traits: how it may be repeated. */
const REPETITION = 3;

/** The fields of a message of a request by their names: 1, or the fields of the message that it holds. */
export interface Shape {
  readonly [field: string]: 1 | Shape;
}

/** A method of the service. */
export interface Method {
  /** Path below the base address without the slash, such as `monitor.v1.MonitorService/GetMonitor`. */
  readonly path: string;
  /** How it may be repeated, with what else is special of it. */
  readonly traits: number;
  /** The fields of its request. */
  readonly request: Shape;
}

/** A service as `gen/methods.ts` writes it: its methods with their traits and the fields of their requests. */
export type Methods = Readonly<Record<string, readonly [traits: number, request: Shape]>>;

/** How a method may be repeated: one of the first four. */
export function repetition(method: Pick<Method, "traits">): number {
  return method.traits & REPETITION;
}

/** Whether the method is of this trait. */
export function is(method: Method, trait: typeof ENDS | typeof PAGES | typeof WAITS): boolean {
  return (method.traits & trait) !== 0;
}
