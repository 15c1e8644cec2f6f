/** Paths as URIs and back. */
import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export function uriOf(root: string, path: string): string {
  return pathToFileURL(join(root, path)).href;
}

/** Names that a URI has as they are, none of them `..`: most paths, of which an answer may have thousands. */
const plain = /^[\w@+~-][\w@+~.-]*(?:\/[\w@+~-][\w@+~.-]*)*$/;

/** In the project, relative to it; outside, or no file, as it is. */
export function pathOf(root: string, uri: string): string {
  const start = `file://${root}/`;
  const rest = uri.startsWith(start) ? uri.slice(start.length) : '';
  if (plain.test(rest)) return rest;
  const path = filePath(uri);
  if (path === null) return uri;
  const inside = relative(root, path);
  return inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? path : inside;
}

function filePath(uri: string): string | null {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : null;
  } catch {
    return null;
  }
}
