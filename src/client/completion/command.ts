import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { shells } from './script.ts';

export async function completion({ json, out }: Context, { args }: Invocation): Promise<void> {
  const shell = args[0]!;
  const script = shells.get(shell)?.script;
  if (script === undefined) {
    throw new Fault('invalid', `there is no completion script for ${printable(shell)}`, {
      hint: 'carrel completion bash, zsh or fish',
    });
  }
  if (json) out.document({ shell, script });
  else out.print(script.trimEnd());
}
