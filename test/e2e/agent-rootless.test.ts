// @needs root
// @takes 60 s
/** Agents in the terminals of an ordinary user. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestAuthority } from '../fixtures/service.ts';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount, rootlessUid } from '../harness/rootless.ts';
import { runEnv } from '../harness/run.ts';
import { Terminal } from '../harness/terminal.ts';
import { describeAgentPrograms, programsPath } from './agent-programs.ts';

const authority = new TestAuthority('127.0.0.1');
const account = createRootlessAccount();
const carrel = new Installation(account);
const project = carrel.folder('project');
const windows: Terminal[] = [];

beforeAll(() => {
  carrel.write('home/ca.pem', authority.certificate);
  carrel.write('home/config.yaml', `authorities: [${join(carrel.home, 'ca.pem')}]\n`);
});
afterAll(async () => {
  for (const window of windows) window.kill();
  await carrel.dispose();
  account.dispose();
});

function open(agent: string): Terminal {
  const argv = [process.execPath, '--', carrel.program, agent];
  const env = { HOME: carrel.home, CARREL_HOME: carrel.home, PATH: programsPath, ...runEnv() };
  const window = new Terminal(account.wrap(argv), { cwd: project, env });
  windows.push(window);
  return window;
}

describeAgentPrograms(() => ({ carrel, authority, open }));

it('the daemon that ran the agents belongs to the ordinary user', () => {
  expect(statSync(join(carrel.home, 'daemon.lock')).uid).toBe(rootlessUid);
});
