/** Rewrites the lines of a `.gitignore` in some folder to equal rules for the `.gitignore` at the top. */
import type { BytePath } from '../../../model/byte-path.ts';

/** `folder` is empty, or ends with a slash. */
export function rulesIn(folder: BytePath, text: Uint8Array): string[] {
  return Buffer.from(text)
    .toString('latin1')
    .split('\n')
    .flatMap((line) => ruleAt(folder, line));
}

function ruleAt(folder: BytePath, line: string): string[] {
  const [, negation = '', rule = ''] = /^(!?)(.*?)\r?$/.exec(line) ?? [];
  if (rule.trim() === '' || (negation === '' && rule.startsWith('#'))) return [];
  if (folder === '') return [`${negation}${rule}`];
  const place = folder.replace(/[*?[\\]/g, '\\$&');
  const isAnchored = rule.slice(0, -1).includes('/');
  return [`${negation}/${place}${isAnchored ? rule.replace(/^\//, '') : `**/${rule}`}`];
}
