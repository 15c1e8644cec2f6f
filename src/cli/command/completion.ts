import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { commands, groups } from '../commands.ts';
import { bash } from '../completion/bash.ts';
import { fish } from '../completion/fish.ts';
import { zsh } from '../completion/zsh.ts';
import type { Context, Invocation } from '../context.ts';

const scripts = new Map(Object.entries({ bash, zsh, fish }));

export default async function completion(context: Context, { args }: Invocation): Promise<void> {
  const script = scripts.get(args[0]!);
  if (!script) {
    throw new Fault('invalid', `there is no completion for ${printable(args[0]!)}`, {
      hint: 'carrel completion bash, zsh or fish',
    });
  }
  const shown = commands.filter(({ hidden }) => !hidden);
  const text = script(shown, groups);
  if (context.json) context.out.document({ shell: args[0], script: text });
  else context.out.print(text.trimEnd());
}
