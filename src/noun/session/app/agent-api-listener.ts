/** Which program listens at the port of the agent API in a sandbox. */
import { basename, dirname } from 'node:path';
import type { ListeningProcess } from '../../../lib/process/listener.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { agentApiPath, agentApiPort } from '../model/session.ts';

/**
 * An agent can end the agent API and listen at its port. If the listener was started as another program, the daemon
 * sends no request, so that the listener does not see the daemon's token. This check misses an agent that imitates the
 * program exactly; such an agent learns nothing that is valid outside of its sandbox.
 */
export function requireAgentApi(sandbox: string, listener: ListeningProcess | null): void {
  if (listener === null || isAgentApi(listener)) return;
  const what = printable(listener.arguments.join(' ').slice(0, 100));
  throw new Fault('unavailable', `port ${agentApiPort} of ${sandbox} is held by another program: ${what}`, {
    hint: `End it, or stop and start the sandbox: carrel stop ${sandbox} && carrel start ${sandbox}`,
  });
}

/** The files of the program inside: of this build, and of 0.1.0, whose sandboxes may still run. */
const files = [`${basename(agentApiPath)}.js`, 'agent/session/main.js'].map(
  (file) => `${dirname(agentApiPath)}/lib/${file}`,
);

/** Whether the listener is the program that `noun/sandbox/tools/tools.ts` starts. */
function isAgentApi({ arguments: [, program = '', command] }: ListeningProcess): boolean {
  return files.includes(program) && command === 'serve';
}
