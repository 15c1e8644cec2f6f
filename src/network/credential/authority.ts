/**
 * The key of an installation that signs certificates for sandboxes: created once, in a file that only its owner can read.
 * No sandbox gets it; each one trusts a certificate of its own, which is limited to the hosts of its credentials.
 */
import { createPrivateKey } from 'node:crypto';
import { type BoundedFile, readBounded } from '../../lib/bounded-read.ts';
import { writeWhole } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import { newAuthorityKey } from './certificate.ts';

/** Creates the key where there is none. A crash leaves no partial file. */
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
    hint: 'Remove it: a new one is created. Sandboxes that have credentials trust it after their next start.',
  });
}
