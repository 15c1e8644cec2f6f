/** Language servers that misbehave: what they send is bounded, and a failure is never shown as an answer. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { symbolsOf } from '../../src/noun/hub/inside/code/symbol.ts';
import { readDocument } from '../../src/noun/hub/inside/file/document.ts';
import type { ServerSpec } from '../../src/noun/hub/inside/lsp/lsp.ts';
import { poolLimits } from '../../src/noun/hub/inside/lsp/pool.ts';
import { Servers } from '../../src/noun/hub/inside/lsp/servers.ts';

const program = resolve('test/fixtures/hostile-language-server.mjs');
const signal = new AbortController().signal;
let root: string;
let servers: Servers;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-lsp-'));
  writeFileSync(join(root, 'a.x'), 'x\n');
});
afterEach(async () => {
  await servers.dispose();
  expect(processesOf(root)).toEqual([]);
  rmSync(root, { recursive: true });
});

function specOf(how: string, end = '.x'): ServerSpec {
  const command = [process.execPath, program, how, root];
  return { name: `server${end}`, commands: [command], languages: { [end]: 'x' }, install: 'nothing' };
}

function start(how: string, limits = poolLimits()): void {
  servers = new Servers({ root, specs: [specOf(how)], read: (path) => readDocument(root, path) }, limits);
}

function ask(timeoutMs = 30_000, path = 'a.x') {
  return symbolsOf(root, { path, limit: 10, skip: 0, timeoutMs }, { servers, signal });
}

/** Processes of a server: the folder is their last argument. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith(`\0${folder}\0`);
    } catch {
      return false;
    }
  });
}

it.each([
  ['endless', 'unavailable', /not understood: a message has no header/],
  ['huge', 'unavailable', /not understood: a message has more than/],
  ['malformed', 'unavailable', /not understood/],
  ['shape', 'internal', /sent an answer that is not understood: \[0\]\.name/],
  ['deep', 'internal', /nested too deeply/],
  ['error', 'internal', /server\.x failed at textDocument\/documentSymbol: .*the index is on fire/],
  ['die', 'unavailable', /ended: .*exit code 3: out of luck/],
])('%s output fails with %s and the reason', async (how, code, message) => {
  start(how);
  await expect(ask()).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
});

it('a request that the server does not answer is timed_out, and the silent server is ended', async () => {
  start('silent');
  expect(await ask(1500)).toMatchObject({ status: 'timed_out', items: [] });
  await expect.poll(() => processesOf(root)).toEqual([]);
});

it('an answer while the server works in the background has the status indexing', async () => {
  start('indexing');
  expect(await ask(1500)).toMatchObject({ status: 'indexing', items: [] });
});

it('diagnostics of a server that never runs its checks are not complete', async () => {
  const spec = { ...specOf('unchecked'), checksWith: 'flycheck' };
  servers = new Servers({ root, specs: [spec], read: (path) => readDocument(root, path) });
  expect(await servers.diagnose('a.x', { signal, timeoutMs: 1000 })).toMatchObject({ status: 'indexing', result: [] });
});

it('an answer of a server that loads first is complete, also while it reports progress', async () => {
  const spec = { ...specOf('indexing'), loadsFirst: true };
  servers = new Servers({ root, specs: [spec], read: (path) => readDocument(root, path) }, poolLimits());
  expect(await ask()).toMatchObject({ status: 'complete' });
});

it('a server cannot edit files by itself, and its answer is still used', async () => {
  start('edit');
  expect(await ask()).toMatchObject({ status: 'complete', items: [] });
  expect(existsSync(join(root, 'a.x'))).toBe(true);
});

it('a server that ends again and again is not started again for a while', async () => {
  start('die', { ...poolLimits(), ends: 3 });
  await expect(ask()).rejects.toThrow(/ended: /);
  await expect(ask()).rejects.toThrow(/ended 3 times: .*out of luck/);
  await expect(ask()).rejects.toMatchObject({
    code: 'unavailable',
    hint: expect.stringContaining('60 seconds') as string,
  });
});

it('the least recently used server is stopped when there are too many, or when they use too much memory', async () => {
  for (const end of ['y', 'z']) writeFileSync(join(root, `a.${end}`), 'x\n');
  const specs = ['.x', '.y', '.z'].map((end) => specOf('edit', end));
  const read = (path: string) => readDocument(root, path);
  servers = new Servers({ root, specs, read }, { ...poolLimits(), servers: 2 });
  for (const path of ['a.x', 'a.y', 'a.x', 'a.z']) await ask(30_000, path);
  await expect.poll(() => processesOf(root).length).toBe(2);
  await servers.dispose();
  servers = new Servers({ root, specs, read }, { ...poolLimits(), memoryBytes: 1 });
  await ask();
  await expect.poll(() => processesOf(root).length).toBe(0);
});

it('a server that is killed during a request is started again, and the request is answered', async () => {
  start('silent');
  const asked = ask(20_000);
  await expect.poll(() => processesOf(root).length).toBe(1);
  servers.configure([specOf('edit')]);
  for (const pid of processesOf(root)) process.kill(Number(pid), 'SIGKILL');
  expect(await asked).toMatchObject({ status: 'complete' });
});
