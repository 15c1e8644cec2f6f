/**
 * Paths of a project as its three sides name them: the folder on the host, `/workspaces/ID` at the hub, `/workspace` in the spoke. Results
 * of tools name the hub's; clients may name any. In text only whole prefixes of paths are replaced: `/workspace2` and `a/workspace` stay.
 */
import { posix } from 'node:path';
import type { Project } from '../../../project/model/project.ts';

type Place = Pick<Project, 'id' | 'folder'>;

const inSpoke = '/workspace';
const pathKeys: ReadonlySet<string> = new Set(['path', 'from', 'to', 'paths']);
/** Matches a path with a name that is empty, `.` or `..`. */
const isUneven = /(?:^|\/)\.{0,2}(?:\/|$)/;
export const atHub = (id: string) => `/workspaces/${id}`;

/** Translates the output of a command for the client. */
export function hubText(id: string, text: string): string {
  return replacePrefix(text, inSpoke, atHub(id));
}

/**
 * Translates the result of a tool for the client: `path`, `from`, `to`, `paths` and messages get the hub's paths. An
 * object with a field `project` belongs to that project. A path that begins with `/` is outside of the project and
 * stays. The result is changed, not copied: it may have thousands of places.
 */
export function hubResult(id: string, result: object): object {
  const fields = result as Record<string, unknown>;
  const project = typeof fields.project === 'string' ? fields.project : id;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (typeof value === 'string') fields[key] = hubString(project, key, value);
    else if (Array.isArray(value)) showEach(project, key, value);
    else if (typeof value === 'object' && value !== null) hubResult(project, value);
  }
  return result;
}

function showEach(id: string, key: string, values: unknown[]): void {
  for (const [index, value] of values.entries()) {
    if (typeof value === 'string') values[index] = hubString(id, key, value);
    else if (typeof value === 'object' && value !== null) hubResult(id, value);
  }
}

function hubString(id: string, key: string, value: string): string {
  if (pathKeys.has(key)) return hubPath(id, value);
  return key === 'message' ? hubText(id, value) : value;
}

export function hubPath(id: string, path: string): string {
  if (path.startsWith('/')) return path;
  return isUneven.test(path) ? posix.join(atHub(id), path) : `${atHub(id)}/${path}`;
}

/** Translates an argument of a command for the spoke. */
export function spokeText({ id, folder }: Place, text: string): string {
  const translated = replacePrefix(text, atHub(id), inSpoke);
  return folder === '' ? translated : replacePrefix(translated, folder, inSpoke);
}

function replacePrefix(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  const escaped = from.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // A path begins at the start, after a character that no path contains, or after file://.
  return text.replaceAll(new RegExp(`(?<=^|file://|[^\\w./@~+-])${escaped}(?![\\w.@~+-])`, 'g'), () => to);
}

/** The path in the project: clients may also name the path as the spoke, the hub or the host sees it. */
export function inProject({ id, folder }: Place, given: string): string {
  const roots = [atHub(id), inSpoke, folder];
  // A project that is elsewhere has no folder on the host.
  const found = roots.find((root) => root !== '' && (given === root || given.startsWith(`${root}/`)));
  return found === undefined ? given : given.slice(found.length).replace(/^\/+/, '');
}
