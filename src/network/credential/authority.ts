/**
 * The key of an installation that certificates for sandboxes are signed with: made once, in a file that only its owner
 * can read. It comes into no sandbox; each one trusts a certificate of its own, which is good for its hosts alone.
 */
import { createPrivateKey } from 'node:crypto';
import { type BoundedFile, readBounded } from '../../lib/bounded-read.ts';
import { writeWhole } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import { newAuthorityKey } from './certificate.ts';

/** Whole or not at all: a crash leaves the key that was, or none. */
export function authorityKey(path: string): string {
  const known = readKey(path);
  if (known !== null) return known;
  writeWhole(path, newAuthorityKey());
  return readKey(path)!;
}

/** A key of this kind has about 240 bytes. */
const maxKeyBytes = 64 * 1024;

function readKey(path: string): string | null {
  const file = readFile(path);
  if (file === null) return null;
  const { uid, mode } = file.stat;
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw unusable(path, 'denied', 'is open to others');
  return checked(path, file.bytes.toString('utf8'));
}

function readFile(path: string): BoundedFile | null {
  try {
    return readBounded(path, maxKeyBytes);
  } catch (error) {
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
