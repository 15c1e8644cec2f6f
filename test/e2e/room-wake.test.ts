/**
 * A message starts a stopped sandbox with the real claude, which works and answers in the room; the model is scripted.
 */
import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MessageView, WatchView } from '../../src/noun/room/api.ts';
import { ScriptedModel } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { Installation, until } from '../harness/installation.ts';

const key = 'sk-ant-real-0123456789';
const authority = new TestAuthority('127.0.0.1');
let carrel: Installation;
let model: ScriptedModel;

beforeAll(async () => {
  carrel = new Installation();
  carrel.write('home/ca.pem', authority.certificate);
  carrel.write('home/config.yaml', `authorities: [${join(carrel.home, 'ca.pem')}]\n`);
  const command = 'carrel-room read plans > seen.txt';
  model = await ScriptedModel.open(
    [
      [{ text: 'On it.' }, { tool: 'Bash', input: { command, description: 'read the room' } }],
      [{ text: 'I looked at the parser.' }],
    ],
    { tls: authority.tls('127.0.0.1'), wants: { header: 'x-api-key', value: key } },
  );
});
afterAll(async () => {
  await carrel.dispose();
  await model.dispose();
});

/** A project with claude; the sandbox has it on its PATH. */
function project(): string {
  const folder = carrel.folder('project');
  for (const name of ['cli.js', 'package.json'])
    cpSync(resolve('node_modules/@anthropic-ai/claude-code', name), join(folder, name));
  writeFileSync(join(folder, 'claude'), '#!/bin/sh\nexec node /workspace/cli.js "$@"\n');
  chmodSync(join(folder, 'claude'), 0o755);
  return folder;
}

it('--wake starts the sandbox, hands the message to claude and posts its answer', async () => {
  await carrel.run(['secret', 'set', 'KEY'], { input: key });
  const host = `127.0.0.1:${model.port}`;
  await carrel.ok('credential', 'add', 'claude', '--secret', 'KEY', '--preset', 'anthropic', '--host', host);
  await carrel.ok('room', 'create', 'plans');
  const env = ['PATH=/workspace:/opt/carrel/bin:/usr/local/bin:/usr/bin:/bin', 'DISABLE_AUTOUPDATER=1'];
  const options = ['--room', 'plans', '--credential', 'claude', ...env.flatMap((one) => ['--env', one])];
  await carrel.ok('create', '--name', 'reviewer', ...options, project(), '--', 'sleep', '1d');
  await carrel.ok('stop', '--grace', '0', 'reviewer');
  await carrel.ok('room', 'watch', 'plans', 'reviewer', '--wake');
  const asked = (await carrel.ok('room', 'post', 'plans', 'Look at the parser, @reviewer.')).trim();
  const watcher = async () => (await carrel.json<WatchView[]>('room', 'watch', 'plans'))[0]!;
  await until(async () => (await watcher()).handled + (await watcher()).failed === 1, 'the answer', 60_000);
  const [, answer] = await carrel.json<MessageView[]>('room', 'read', 'plans', '--peek');
  expect(answer).toMatchObject({
    ...{ from: 'reviewer', via: 'watch', replyTo: asked, body: 'I looked at the parser.' },
  });
  expect(await carrel.ok('diff', 'reviewer')).toMatch(/^\+.*Look at the parser, @reviewer\./m);
  const [first] = model.requests.flatMap(({ question }) => (question?.tools?.length ? [question] : []));
  expect(JSON.stringify(first!.messages)).toContain('a participant of the room plans');
  expect((await carrel.run(['exec', 'reviewer', '--', 'env'])).stdout).not.toContain(key);
}, 90_000);
