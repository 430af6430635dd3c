// The only access to the environment, if it exists and may be read.

/** The globals that some runtimes have. */
interface Runtime {
  readonly process?: { readonly env?: Record<string, string | undefined> };
  readonly Deno?: { readonly env?: { get(name: string): string | undefined } };
}

/** Returns an environment variable; undefined if it is blank or cannot be read. */
export function environment(name: string): string | undefined {
  const runtime = globalThis as Runtime;
  return variable(() => runtime.process?.env?.[name]) ?? variable(() => runtime.Deno?.env?.get(name));
}

/** Deno throws without permission to read the environment. */
function variable(read: () => unknown): string | undefined {
  try {
    const value = read();
    return typeof value === "string" ? value.trim() || undefined : undefined;
  } catch {
    return undefined;
  }
}
