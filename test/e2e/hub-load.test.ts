/** Many projects and many clients at a time: no wrong answer, and nothing is left of the calls. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { Installation } from '../harness/installation.ts';

const projects = Array.from({ length: 20 }, (_, n) => `p${n}`);
const clients = 10;
const forMs = process.env.CARREL_TEST_ALL ? 60_000 : 3000;
let carrel: Installation;

beforeAll(async () => {
  carrel = new Installation();
  for (const id of projects) {
    const folder = carrel.folder(id);
    writeFileSync(join(folder, 'name'), id);
    await carrel.ok('project', 'add', folder);
  }
});
afterAll(() => carrel.dispose());

type Answer = Readonly<Record<string, unknown>>;
const call = (client: Client, tool: string, input: object) =>
  client.call('POST /v1/hub/call', { body: { tool, input: { ...input } } }) as Promise<Answer>;

/** Every project in an order of its own, until the time is over. Answers with what was wrong. */
async function work(number: number, untilMs: number): Promise<string[]> {
  const { client } = carrel;
  const wrong: string[] = [];
  for (let turn = number; performance.now() < untilMs; turn += 7) {
    const id = projects[turn % projects.length]!;
    const { content } = await call(client, 'read_file', { project: id, path: 'name' });
    const { stdout } = await call(client, 'run_command', { project: id, command: ['cat', 'name'] });
    const { matches } = await call(client, 'search_text', { project: id, pattern: '^p' });
    const seen = [content, stdout, (matches as { text: string }[])[0]?.text];
    if (seen.some((text) => text !== id)) wrong.push(`${id}: ${JSON.stringify(seen)}`);
  }
  return wrong;
}

function usage(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    memoryKib: Number(status.match(/VmRSS:\s+(\d+)/)?.[1]),
  };
}

it('20 projects and 10 clients: every answer is right, and no process, descriptor or memory stays', async () => {
  await Promise.all(projects.map((project) => call(carrel.client, 'health_check', { project })));
  await work(0, performance.now() + 500);
  const before = usage(carrel.daemonPid);
  const untilMs = performance.now() + forMs;
  const wrong = await Promise.all(Array.from({ length: clients }, (_, number) => work(number, untilMs)));
  expect(wrong.flat()).toEqual([]);
  const after = usage(carrel.daemonPid);
  // One connection more or less may be open.
  expect(after.descriptors - before.descriptors).toBeLessThan(clients + 5);
  expect(after.memoryKib - before.memoryKib).toBeLessThan(150_000);
  for (const project of ['p0', 'p19']) {
    const asked = { project, command: ['sh', '-c', 'pgrep -x "cat|rg" | wc -l'] };
    expect(await call(carrel.client, 'run_command', asked)).toMatchObject({ stdout: '0\n' });
  }
});
