/** Paths as URIs and back. */
import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export function uriOf(root: string, path: string): string {
  return pathToFileURL(join(root, path)).href;
}

/** In the project, relative to it; outside, or no file, as it is. */
export function pathOf(root: string, uri: string): string {
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
