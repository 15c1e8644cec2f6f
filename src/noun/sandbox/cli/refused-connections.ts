/** Prints at the end of a run which connections were refused, and the command that allows them. */
import type { Output } from '../../../client/output/output.ts';
import { commandLine } from '../../../client/output/text.ts';

export function warnRefused(out: Output, name: string, refused: readonly string[] = [], isRemoved = false): void {
  if (refused.length === 0) return;
  out.warn(`no rule of ${name} allows ${refused.join(', ')}`);
  const hint = isRemoved ? `--network ${refused.join(',')}` : commandLine(['carrel', 'net', 'allow', name, ...refused]);
  out.say(`  hint: ${hint}`);
}
