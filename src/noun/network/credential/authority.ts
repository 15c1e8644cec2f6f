/**
 * The key of an installation that signs certificates for sandboxes: created once, in a file that only its owner can read.
 * No sandbox gets it; each one trusts a certificate of its own, which is limited to the hosts of its credentials.
 */
import { createPrivateKey } from 'node:crypto';
import { writeWhole } from '../../../lib/file/file.ts';
import { readKeyFile } from '../../../lib/file/key-file.ts';
import { Fault } from '../../../model/fault.ts';
import { newAuthorityKey } from './certificate.ts';

const hint = 'Remove it: a new one is created. Sandboxes that have credentials trust it after their next start.';

/** Reads the key, or creates it if there is none. A crash leaves no partial file. */
export function authorityKey(path: string): string {
  const known = readKey(path);
  if (known !== null) return known;
  writeWhole(path, newAuthorityKey());
  return readKey(path)!;
}

function readKey(path: string): string | null {
  const bytes = readKeyFile(path, hint);
  return bytes === null ? null : checked(path, bytes.toString('utf8'));
}

function checked(path: string, pem: string): string {
  try {
    if (createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1') return pem;
  } catch (cause) {
    throw new Fault('corrupt', `${path} holds no key`, { cause, hint });
  }
  throw new Fault('corrupt', `${path} holds a key of another kind`, { hint });
}
