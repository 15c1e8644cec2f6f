/**
 * The first program of the container of a hub (`carrel compose`): a daemon without sandboxes, whose projects are in
 * other containers. First it copies the program that these containers start into their volume. Once it answers, it
 * registers their projects and writes a token for each to a volume that only the hub and that container have.
 */
import { Client } from '../../client/client.ts';
import { installTools } from '../../extra/compose/app/install-tools.ts';
import { SpokeTokens } from '../../extra/compose/app/spoke-tokens.ts';
import { hubHost, hubProjectsVariable } from '../../extra/compose/model.ts';
import { asFault, type Fault, faultTable } from '../../model/fault.ts';
import { startDaemon } from './daemon.ts';

const checkMs = 24 * 60 * 60 * 1000;
const home = process.env.CARREL_HOME ?? '/home/agent/.carrel';
const projects = (process.env[hubProjectsVariable] ?? '').split(',').filter((id) => id !== '');

function say(text: string): void {
  process.stdout.write(`carrel-hub: ${text}\n`);
}

function complain(about: string, { message, hint }: Fault): void {
  process.stderr.write(`carrel-hub: ${about}: ${message}\n${hint === undefined ? '' : `  hint: ${hint}\n`}`);
}

process.on('unhandledRejection', (reason) => complain('unhandled', asFault(reason)));

try {
  installTools();
  const daemon = await startDaemon(home, { rootless: true, port: null, container: { names: [hubHost] } });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void daemon.shutdown(false));
  const tokens = new SpokeTokens(new Client(home), projects, complain);
  await tokens.provide();
  say(`ready for ${projects.join(', ') || 'no project'}`);
  setInterval(() => void tokens.provide(), checkMs).unref();
  await daemon.closed;
  process.exit(0);
} catch (error) {
  const fault = asFault(error);
  complain('the hub does not start', fault);
  process.exit(faultTable[fault.code].exit);
}
