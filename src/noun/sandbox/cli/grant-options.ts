/** Options of commands that create sandboxes: one for each kind of grant, and one for the volume of the memory bank. */

import type { OptionEntry } from '../../../client/cli.ts';
import { grantTable } from '../../grant-table.ts';

const bank: OptionEntry = {
  flags: '--memory-bank',
  field: 'volumes',
  summary: 'mount your memory bank at /data/memory-bank, with tools for its files',
};

export const serviceOption: OptionEntry = {
  flags: '--service <NAME>',
  field: 'services',
  summary: 'allow calls to hub, the hub of this machine, or to a service declared in config.yaml; may be repeated',
  repeat: true,
};

/** Options of `run` and `create`. */
export const grantOptions: readonly OptionEntry[] = [...optionsOf(grantTable), bank];

/** Options of commands that create sandboxes for agents. */
export const agentGrantOptions: readonly OptionEntry[] = [
  ...optionsOf(grantTable.filter(([, { option }]) => option.isForAgents)),
  bank,
];

function optionsOf(kinds: typeof grantTable): OptionEntry[] {
  return kinds.map(([field, { option }]) => {
    const { isForAgents: _, ...entry } = option;
    return { ...entry, field, repeat: true };
  });
}
