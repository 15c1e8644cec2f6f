/** What a container has at `/`, as far as this installation has to do with it. */
export interface Image {
  /** What people call it. */
  readonly name: string;
  /** What the engine calls it, by its content. */
  readonly id: string;
  /** Made here, for all projects or for one; or known by the owner's list alone. */
  readonly source: 'base' | 'project' | 'listed';
  /** The folder that it was made for. */
  readonly project: string | null;
  /** Of everything that went into it; null: somebody else made it. */
  readonly checksum: string | null;
  /** When it was made, or first looked up. */
  readonly at: string;
}

/** Names of ours begin with this, and no others do. */
export const imagePrefix = 'carrel-sandbox';
export const baseImageName = `${imagePrefix}:base`;

export function projectImageName(slug: string): string {
  return `${imagePrefix}-${slug}`;
}

export function isOwnImageName(name: string): boolean {
  return name === imagePrefix || name.startsWith(`${imagePrefix}:`) || name.startsWith(`${imagePrefix}-`);
}

/** The same name with the tag that is meant where none is given. */
export function withTag(reference: string): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1);
  return reference.includes('@') || last.includes(':') ? reference : `${reference}:latest`;
}

/** Where a project says how its image is built; the first that is there. */
export const dockerfilePlaces = ['.carrel/Dockerfile.sandbox', '.aimi/Dockerfile.sandbox'] as const;
