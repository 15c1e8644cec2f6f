/** 50 writers in sandboxes write notes and files of the memory bank, while the daemon is killed again and again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BankVersionView } from '../../src/noun/memory/api/bank.ts';
import type { NoteView } from '../../src/noun/memory/api.ts';
import { Installation, until } from '../harness/installation.ts';

/** Each writer saves a note, then a version of its file with n bytes, and continues when both are acknowledged. */
const writer = `
import { appendFileSync } from 'node:fs';
const base = 'http://' + process.env.CARREL_MEMORY;
const send = async (path, input) => {
  for (;;) {
    const answer = await fetch(base + path, { method: 'POST', body: JSON.stringify(input), signal: AbortSignal.timeout(10_000) }).catch(() => null);
    if (answer?.status === 200) return answer.json();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
const write = async (name) => {
  for (let n = 1; ; n++) {
    const { id } = await send('/tools/memory_save', { key: name + '-' + n, text: 'note ' + n + ' of ' + name });
    appendFileSync('/tmp/notes', id + '\\n');
    await send('/bank/memory_bank_' + (n === 1 ? 'write' : 'update'), { projectName: 'shop', fileName: name + '.md', content: 'x'.repeat(n) });
    appendFileSync('/tmp/files', name + ' ' + n + '\\n');
  }
};
for (let one = 0; one < 25; one++) void write(process.argv[2] + '-' + one);
`;

const sandboxes = ['left', 'right'];
let carrel: Installation;
beforeAll(async () => {
  carrel = new Installation();
  const shop = carrel.folder('shop');
  writeFileSync(join(shop, 'writer.mjs'), writer);
  const grants = ['--memory-scope', 'user', '--memory-bank'];
  await Promise.all(sandboxes.map((name) => carrel.ok('create', '--name', name, ...grants, shop)));
}, 60_000);
afterAll(() => carrel.dispose());

const inside = (name: string, script: string) => carrel.ok('exec', name, '--', 'sh', '-c', script);

/** The lines that all writers wrote so far. */
async function acknowledged(what: 'notes' | 'files'): Promise<string[]> {
  const texts = await Promise.all(sandboxes.map((name) => inside(name, `cat /tmp/${what} 2>/dev/null || true`)));
  return texts.join('').split('\n').filter(Boolean);
}

async function more(count: number): Promise<void> {
  const before = (await acknowledged('files')).length;
  await until(async () => (await acknowledged('files')).length >= before + count, 'more writes');
}

it('no acknowledged note and no acknowledged version of a file is lost, and none exists twice', async () => {
  for (const name of sandboxes)
    await inside(name, `node /workspace/writer.mjs ${name} >/dev/null 2>&1 & echo $! > /tmp/writer`);
  for (let kill = 0; kill < 4; kill++) {
    await more(60);
    await carrel.killDaemon();
  }
  await more(60);
  for (const name of sandboxes) await inside(name, 'kill $(cat /tmp/writer)');
  const [notes, files] = [await acknowledged('notes'), await acknowledged('files')];
  const listed = (await carrel.ok('memory', 'export'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as NoteView);
  const ids = new Set(listed.map(({ id }) => id));
  expect(notes.filter((id) => !ids.has(id))).toEqual([]);
  expect(new Set(listed.map(({ text }) => text)).size).toBe(listed.length);
  const names = [...new Set(files.map((line) => line.split(' ')[0]!))];
  expect(names).toHaveLength(50);
  for (const name of names) {
    const last = Number(files.findLast((line) => line.startsWith(`${name} `))!.split(' ')[1]);
    const versions = await carrel.json<BankVersionView[]>('memory', 'bank', 'log', `shop/${name}.md`);
    const sizes = versions.map(({ bytes }) => bytes).reverse();
    // The writer may have ended before the answer to its last version.
    expect([name, sizes]).toEqual([name, Array.from({ length: Math.max(last, sizes.length) }, (_, n) => n + 1)]);
    expect(sizes.length).toBeLessThanOrEqual(last + 1);
  }
}, 120_000);
