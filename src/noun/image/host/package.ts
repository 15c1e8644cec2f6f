/** The packages of a Debian system and their dependencies. */
export interface Package {
  readonly name: string;
  readonly architecture: string;
  readonly version: string;
  readonly essential: boolean;
  /** The dependencies; each is satisfied by any package of its list. */
  readonly needs: readonly (readonly string[])[];
  readonly provides: readonly string[];
  /** The entry in the records of the package manager. */
  readonly record: string;
}

/** The installed packages, by name. */
export function parsePackages(status: string): Map<string, Package> {
  const packages = status.split(/\n\n+/).flatMap((record) => packageFrom(record) ?? []);
  return new Map(packages.map((one) => [one.name, one]));
}

function packageFrom(record: string): Package | null {
  const field = (name: string) => new RegExp(`^${name}: *(.*)$`, 'm').exec(record)?.[1]?.trim() ?? '';
  const name = field('Package');
  if (!/^[a-z0-9][a-z0-9+.-]+$/.test(name) || field('Status') !== 'install ok installed') return null;
  const list = (text: string) => text.split(',').filter((one) => one.trim() !== '');
  return {
    name,
    architecture: field('Architecture'),
    version: field('Version'),
    essential: field('Essential') === 'yes',
    needs: [...list(field('Pre-Depends')), ...list(field('Depends'))].map((one) => one.split('|').map(bare)),
    provides: list(field('Provides')).map(bare),
    record,
  };
}

/** `name:any (>= 1)` → `name`. */
function bare(text: string): string {
  return text.trim().split(/[ (:]/, 1)[0]!;
}

/** These packages and all their dependencies, by name. A dependency that is not installed is left out. */
export function closure(packages: ReadonlyMap<string, Package>, roots: readonly string[]): Package[] {
  const providers = new Map([...packages.values()].flatMap((one) => one.provides.map((name) => [name, one] as const)));
  const find = (name: string) => packages.get(name) ?? providers.get(name);
  const found = new Set(roots.flatMap((name) => find(name) ?? []));
  for (const { needs } of found) {
    for (const names of needs) {
      const one = names.map(find).find((candidate) => candidate !== undefined);
      if (one) found.add(one);
    }
  }
  return [...found].sort((one, other) => (one.name < other.name ? -1 : 1));
}
