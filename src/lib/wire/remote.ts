/** Methods whose calls go elsewhere, by name. What the result is assigned to gives them their types. */
export function remote<K extends string>(
  names: readonly K[],
  ask: (method: K, args: readonly unknown[]) => Promise<never>,
): Record<K, (...args: readonly unknown[]) => Promise<never>> {
  const methods = names.map((name) => [name, (...args: readonly unknown[]) => ask(name, args)]);
  return Object.fromEntries(methods);
}
