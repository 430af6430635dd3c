// Controls the timers that the client sets, so that no test waits for the clock: a test inspects each and
// fires it. All other timers run as usual.

/** Folder of the client's own code. */
const CLIENT = /\/clients\/typescript\/dist\//u;

/** The line of the stack with the caller of the replaced function. */
function caller() {
  const lines = new Error().stack.split("\n").slice(3);
  return lines.find((line) => !line.includes("node:internal/test_runner"));
}

/** Controls timers until the end of the test. */
export function holdTimers(t) {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const held = new Map();
  const waiting = [];
  t.mock.method(globalThis, "setTimeout", function setTimeout(callback, delay, ...args) {
    if (!CLIENT.test(caller())) return set(callback, delay, ...args);
    const timer = { delay, fire: () => held.delete(timer) && callback(...args), unref: () => timer };
    held.set(timer, timer);
    for (const wanted of waiting.splice(0)) wanted();
    return timer;
  });
  t.mock.method(globalThis, "clearTimeout", (timer) => (held.delete(timer) ? undefined : clear(timer)));
  return {
    /** Returns the first pending timer with such a delay, as soon as it exists. */
    async next(isMeant = () => true) {
      for (;;) {
        const found = [...held.values()].find(({ delay }) => isMeant(delay));
        if (found) return found;
        await new Promise((resolve) => waiting.push(resolve));
      }
    },
    /** Number of pending timers. */
    get count() {
      return held.size;
    },
  };
}
