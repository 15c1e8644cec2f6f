/**
 * Paths of a project as its three sides name them: the folder on the host, `/workspaces/ID` at the hub, `/workspace` in the spoke. Results
 * of tools name the hub's; clients may name any. In text only whole prefixes of paths are replaced: `/workspace2` and `a/workspace` stay.
 */
import type { Project } from '../../../model/project.ts';

type Place = Pick<Project, 'id' | 'folder'>;

const inSpoke = '/workspace';
export const atHub = (id: string) => `/workspaces/${id}`;

/** Output of a command, for the client. */
export function hubText(id: string, text: string): string {
  return replacePrefix(text, inSpoke, atHub(id));
}

/** An argument of a command, for the spoke. */
export function spokeText({ id, folder }: Place, text: string): string {
  const translated = replacePrefix(text, atHub(id), inSpoke);
  return folder === '' ? translated : replacePrefix(translated, folder, inSpoke);
}

function replacePrefix(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  const escaped = from.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // A path begins after what no path has, or in a file: URL.
  return text.replaceAll(new RegExp(`(?<=^|file://|[^\\w./@~+-])${escaped}(?![\\w.@~+-])`, 'g'), () => to);
}

/** The path in the project: clients may also name the path as the spoke, the hub or, where the project is known, the host sees it. */
export function inProject(place: Place | string, given: string): string {
  const roots = typeof place === 'string' ? [atHub(place), inSpoke] : [atHub(place.id), inSpoke, place.folder];
  // A project that is elsewhere has no folder on the host.
  const found = roots.find((root) => root !== '' && (given === root || given.startsWith(`${root}/`)));
  return found === undefined ? given : given.slice(found.length).replace(/^\/+/, '');
}
