/** The input of a project's image: its Dockerfile, or one that is written from what the project needs. */
import type { Anchor } from '../../lib/file/anchor.ts';
import { Ignore, parseIgnore } from './context/ignore.ts';
import { readSmall } from './context/small-file.ts';
import type { Detected } from './detect.ts';
import type { Dockerfile } from './dockerfile/dockerfile.ts';
import { maxDockerfileBytes, parseDockerfile } from './dockerfile/parse.ts';
import { baseImageName, dockerfilePlaces } from './model.ts';

export interface ProjectSource {
  readonly dockerfile: Dockerfile;
  readonly ignore: Ignore;
  readonly notes: readonly string[];
  /** What to do when it cannot be built. */
  readonly hint: string;
}

const maxIgnoreBytes = 64 * 1024;

/** Writes a Dockerfile from the files of package managers; null: there are none. */
export type Detect = (project: string, base: string) => Promise<Detected | null>;

/** Null: the project needs only the base. */
export async function sourceOf(root: Anchor, project: string, detect: Detect): Promise<ProjectSource | null> {
  for (const file of dockerfilePlaces) {
    const bytes = readSmall(root, file, maxDockerfileBytes);
    if (bytes === null) continue;
    const hint = `Correct ${file}, and build again.`;
    return { dockerfile: parseDockerfile(file, bytes), ignore: ignoreOf(root, file), notes: [], hint };
  }
  const found = await detect(project, baseImageName);
  return found === null ? null : sourceFrom(found);
}

function sourceFrom(found: Detected): ProjectSource {
  const file = found.from.join(' and ') || 'the project';
  return {
    dockerfile: parseDockerfile(file, Buffer.from(found.text)),
    // Only files that were detected are copied.
    ignore: new Ignore([]),
    notes: found.notes.map((note) => `${note}: write ${dockerfilePlaces[0]} for it`),
    hint: `Say yourself how it is built: write ${dockerfilePlaces[0]}`,
  };
}

/** An ignore file for this Dockerfile alone has precedence over that of the project. */
function ignoreOf(root: Anchor, file: string): Ignore {
  for (const name of [`${file}.dockerignore`, '.dockerignore']) {
    const bytes = readSmall(root, name, maxIgnoreBytes);
    if (bytes !== null) return parseIgnore(name, bytes.toString('utf8'));
  }
  return new Ignore([]);
}
