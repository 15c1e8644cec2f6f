import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { terminalAgents } from '../model/table.ts';

export function unknownAgent(agent: string): Fault {
  return new Fault('not_found', `there is no agent ${printable(agent)}`, {
    hint: `There are ${Object.keys(terminalAgents).join(', ')}.`,
  });
}
