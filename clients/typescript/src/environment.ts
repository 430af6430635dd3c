// The one place that reads the environment: where there is one, and where it may be read.

/** The globals that some runtimes have. */
interface Runtime {
  readonly process?: { readonly env?: Record<string, string | undefined> };
  readonly Deno?: { readonly env?: { get(name: string): string | undefined } };
}

/** A variable of the environment; undefined where it is blank, and where there is none to ask. */
export function environment(name: string): string | undefined {
  const runtime = globalThis as Runtime;
  return variable(() => runtime.process?.env?.[name]) ?? variable(() => runtime.Deno?.env?.get(name));
}

/** Deno throws where it was not given leave to read. */
function variable(read: () => unknown): string | undefined {
  try {
    const value = read();
    return typeof value === "string" ? value.trim() || undefined : undefined;
  } catch {
    return undefined;
  }
}
