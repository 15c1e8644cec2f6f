import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { bash } from './bash.ts';
import { fish } from './fish.ts';
import { zsh } from './zsh.ts';

const scripts = new Map(Object.entries({ bash, zsh, fish }));

export async function completion({ json, out, table }: Context, { args }: Invocation): Promise<void> {
  const shell = args[0]!;
  const text = scriptFor(shell)({ ...table, commands: table.commands.filter(({ hidden }) => !hidden) });
  if (json) out.document({ shell, script: text });
  else out.print(text.trimEnd());
}

function scriptFor(shell: string) {
  const script = scripts.get(shell);
  if (script) return script;
  throw new Fault('invalid', `there is no completion script for ${printable(shell)}`, {
    hint: 'carrel completion bash, zsh or fish',
  });
}
