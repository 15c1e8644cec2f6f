/** Text files of the project as language servers see them. */

import { textOf } from '../../../../lib/text/text.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { Document } from '../lsp/lsp.ts';
import { hashOf } from './content.ts';
import { bytesAt } from './file.ts';
import { withResolvedPath } from './path.ts';

export function readDocument(root: string, path: string): Document {
  return withResolvedPath(root, path, { follow: true }, (resolved) => {
    const bytes = bytesAt(resolved);
    const text = textOf(bytes);
    if (text === null) throw new Fault('invalid', `${printable(path)} is not text`);
    return { path: resolved.path, text, hash: hashOf(bytes) };
  });
}
