/** The first dotted number in the output of a program, or null. */
export function versionIn(text: string): string | null {
  return /\d+(?:\.\d+)+/.exec(text)?.[0] ?? null;
}

export function isBelow(version: string, wanted: string): boolean {
  const [have, want] = [version, wanted].map((text) => text.split('.').map(Number));
  for (const [index, part] of want!.entries()) {
    const mine = have![index] ?? 0;
    if (mine !== part) return mine < part;
  }
  return false;
}
