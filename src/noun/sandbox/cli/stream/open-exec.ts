/** Opens the connection of an `exec`. A stopped sandbox is started first. */
import type { Socket } from 'node:net';
import type { Client } from '../../../../client/client.ts';
import type { Output } from '../../../../client/output/output.ts';
import { during } from '../../../../client/output/progress.ts';
import { isFault } from '../../../../model/fault.ts';
import type { SandboxView } from '../../api.ts';

export async function openExec(client: Client, out: Output, name: string): Promise<Socket> {
  const open = () => client.upgrade('POST /v1/sandboxes/{name}/exec', { name });
  try {
    return await open();
  } catch (error) {
    if (!isFault(error, 'not_ready')) throw error;
    if (!startsAgain(await client.call('GET /v1/sandboxes/{name}', { path: { name } }))) throw error;
    out.note(`${name} was stopped, starting it`);
    await during(out, `starting ${name}`, client.call('POST /v1/sandboxes/{name}/start', { path: { name } }));
    return open();
  }
}

/** Whether `exec` may start the sandbox: a command that ended by itself is not run again for it. */
export function startsAgain({ state, command }: Pick<SandboxView, 'state' | 'command'>): boolean {
  return state === 'stopped' || (command.length === 0 && (state === 'failed' || state === 'completed'));
}
