/** Paths as URIs and back. */
import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export function uriOf(root: string, path: string): string {
  return pathToFileURL(join(root, path)).href;
}

/** Paths that need no decoding and have no `..`. Most paths are such, and an answer may have thousands. */
const plain = /^[\w@+~-][\w@+~.-]*(?:\/[\w@+~-][\w@+~.-]*)*$/;

/** A path in the project, relative to it; an absolute path outside; or the URI itself if it names no file. */
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
