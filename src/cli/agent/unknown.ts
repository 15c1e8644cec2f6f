import { terminalAgents } from '../../model/agent-table.ts';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';

export function unknownAgent(agent: string): Fault {
  return new Fault('not_found', `there is no agent ${printable(agent)}`, {
    hint: `There are ${Object.keys(terminalAgents).join(', ')}.`,
  });
}
