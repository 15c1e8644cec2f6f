/** An image for sandboxes on a Docker Engine, as this installation knows it. */
export interface Image {
  /** The name for people. */
  readonly name: string;
  /** The engine's id, made from its content. */
  readonly id: string;
  /** Built here, for all projects, for one or for the hub; or only in the owner's list. */
  readonly source: 'base' | 'project' | 'hub' | 'listed';
  /** The project that it was built for. */
  readonly project: string | null;
  /** The checksum of everything it was built from; null: it was not built here. */
  readonly checksum: string | null;
  /** The time when it was built, or first looked up. */
  readonly at: string;
}

/** The prefix of names of images that are built here. */
export const imagePrefix = 'carrel-sandbox';
export const baseImageName = `${imagePrefix}:base`;

export function projectImageName(slug: string): string {
  return `${imagePrefix}-${slug}`;
}

export function isOwnImageName(name: string): boolean {
  return name === imagePrefix || name.startsWith(`${imagePrefix}:`) || name.startsWith(`${imagePrefix}-`);
}

/** The tag by which the engine has an image that was built here: an engine may have images of several installations. */
export function ownImageTag(name: string, installation: string): string {
  return name === baseImageName ? `${name}-${installation}` : `${name}:${installation}`;
}

/** The name with the default tag if it has none. */
export function withTag(reference: string): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1);
  return reference.includes('@') || last.includes(':') ? reference : `${reference}:latest`;
}

/** The files in which a project describes its image; the first that exists counts. */
export const dockerfilePlaces = ['.carrel/Dockerfile.sandbox', '.aimi/Dockerfile.sandbox'] as const;
