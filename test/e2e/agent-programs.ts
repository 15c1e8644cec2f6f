/** The real codex, gemini and opencode in a terminal; the model is scripted. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestAuthority } from '../fixtures/service.ts';
import { TextModel } from '../fixtures/text-model.ts';
import type { Installation } from '../harness/installation.ts';
import type { Terminal } from '../harness/terminal.ts';

const clients = resolve('test/clients/node_modules');

/** npm installs opencode as one package per architecture. */
const opencodeBin = [`opencode-linux-${process.arch}-baseline`, `opencode-linux-${process.arch}`]
  .map((name) => join(clients, name, 'bin'))
  .find((path) => existsSync(path));

/** The PATH with the programs of this checkout before those of the machine. */
export const programsPath = [resolve('node_modules/.bin'), join(clients, '.bin'), opencodeBin, process.env.PATH].join(
  ':',
);

export interface Surroundings {
  /** Its settings trust the authority. */
  readonly carrel: Installation;
  readonly authority: TestAuthority;
  /** Opens the agent of this name in the folder `project`. */
  readonly open: (agent: string) => Terminal;
}

const value = 'sk-real-0123456789';
const bearer = { header: 'authorization', value: `Bearer ${value}` };

/** Tests each agent with the preset of its service, the header of its key and the text of its waiting prompt. */
export function describeAgentPrograms(surroundings: () => Surroundings): void {
  describe.each([
    ['codex', 'openai', bearer, /OpenAI Codex/],
    ['gemini', 'gemini', { header: 'x-goog-api-key', value }, /Type your message/],
    ['opencode', 'openai', bearer, /Ask anything/],
  ] as const)('%s', (agent, preset, wants, prompt) => {
    it('starts without a question and answers, with the key added outside', async () => {
      const { carrel, authority, open } = surroundings();
      const model = await TextModel.open('It is well.', { tls: authority.tls('127.0.0.1'), wants });
      const host = `127.0.0.1:${model.port}`;
      await carrel.run(['secret', 'set', 'KEY'], { input: value });
      await carrel.ok('credential', 'add', agent, '--secret', 'KEY', '--preset', preset, '--host', host);
      const terminal = open(agent);
      await terminal.shows(prompt);
      await terminal.ask('Tell me.', () => model.requests.some(({ body }) => body.includes('Tell me.')));
      await terminal.shows(/It is well/);
      terminal.type('\x10\x11');
      expect(await terminal.ended).toBe(0);
      // The shell continues below the agent's output, or on the screen from before.
      expect(terminal.shown).toMatch(
        new RegExp(`detached; project-${agent} goes on; come back with: carrel ${agent} \\.`),
      );
      const again = open(agent);
      await again.shows(/Tell me.*It is well/s);
      again.type('\x10\x11');
      expect(await again.ended).toBe(0);
      await carrel.ok('rm', '--force', `project-${agent}`);
      await carrel.ok('credential', 'rm', agent);
      await model.dispose();
    }, 120_000);
  });
}
