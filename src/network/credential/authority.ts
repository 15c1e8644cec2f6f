/**
 * The key of an installation that certificates for sandboxes are signed with: made once, in a file that only its owner
 * can read. It comes into no sandbox; each one trusts a certificate of its own, which is good for its hosts alone.
 */
import { createPrivateKey } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { isErrno, writeWhole } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import { newAuthorityKey } from './certificate.ts';

/** Whole or not at all: a crash leaves the key that was, or none. */
export function authorityKey(path: string): string {
  const known = readKey(path);
  if (known !== null) return known;
  writeWhole(path, newAuthorityKey());
  return readKey(path)!;
}

function readKey(path: string): string | null {
  const fd = openKey(path);
  if (fd === null) return null;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0) {
      throw unusable(path, 'denied', 'is open to others');
    }
    return checked(path, readFileSync(fd, 'utf8'));
  } finally {
    closeSync(fd);
  }
}

function openKey(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw unusable(path, 'denied', 'cannot be read', error);
  }
}

function checked(path: string, pem: string): string {
  try {
    if (createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1') return pem;
  } catch (error) {
    throw unusable(path, 'corrupt', 'holds no key', error);
  }
  throw unusable(path, 'corrupt', 'holds a key of another kind');
}

function unusable(path: string, code: 'denied' | 'corrupt', why: string, cause?: unknown): Fault {
  return new Fault(code, `${path} ${why}`, {
    cause,
    hint: 'Remove it: another one is made. Sandboxes that have credentials trust it after their next start.',
  });
}
