import { valueAt } from './value-at.ts';

/**
 * A claim of a JSON Web Token; undefined: it has none, or the text is no such token. Its signature is not checked: that is up to the
 * service that gets the token.
 */
export function claimIn(token: string, path: readonly string[]): unknown {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    return valueAt(JSON.parse(Buffer.from(parts[1]!, 'base64url').toString('utf8')), path);
  } catch {
    return undefined;
  }
}
