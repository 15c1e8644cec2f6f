import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { CommandEntry, Context, GroupEntry, Invocation, Perform } from '../cli.ts';
import { bash } from '../completion/bash.ts';
import { fish } from '../completion/fish.ts';
import { zsh } from '../completion/zsh.ts';

const scripts = new Map(Object.entries({ bash, zsh, fish }));

export interface CommandTable {
  readonly commands: readonly CommandEntry[];
  readonly groups: readonly GroupEntry[];
}

/** Takes the whole table as an argument: importing it would be a cycle, because the table loads this command. */
export function completionOf({ commands, groups }: CommandTable): Perform {
  return async ({ json, out }: Context, { args }: Invocation) => {
    const shell = args[0]!;
    const text = scriptFor(shell)(
      commands.filter(({ hidden }) => !hidden),
      groups,
    );
    if (json) out.document({ shell, script: text });
    else out.print(text.trimEnd());
  };
}

function scriptFor(shell: string) {
  const script = scripts.get(shell);
  if (script) return script;
  throw new Fault('invalid', `there is no completion script for ${printable(shell)}`, {
    hint: 'carrel completion bash, zsh or fish',
  });
}
