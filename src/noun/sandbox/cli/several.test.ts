/** `stop --all`, `start --all`, `rm --all` and `rm --stale` against a fake daemon. */
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Output } from '../../../client/output/output.ts';
import { Fault, type FaultCode, faultTable } from '../../../model/fault.ts';
import { table } from '../../cli.ts';
import { start, stop } from './commands.ts';
import { rm } from './rm.ts';

const day = 86_400_000;
let home: string;
let server: http.Server;
let requests: string[];
let printed: string;
let warned: string;
/** The Fault code for each name; requests for other names succeed. */
let refusals: Record<string, FaultCode>;

const view = (name: string, state: string, daysAgo: number | null) => ({
  name,
  state,
  finishedAt: daysAgo === null ? null : new Date(Date.now() - daysAgo * day).toISOString(),
});
const there = [
  view('old', 'completed', 9),
  view('older', 'failed', 90),
  view('young', 'stopped', 1),
  view('busy', 'running', null),
  view('waits', 'pending', null),
  view('odd', 'completed', null),
  { ...view('gone', 'failed', 2), reason: 'lost' },
];

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'carrel-several-'));
  [requests, printed, warned, refusals] = [[], '', '', {}];
  server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x');
    const name = pathname.split('/')[3];
    if (name !== undefined) requests.push([request.method, name, pathname.split('/')[4], searchParams].join(' '));
    const code = name === undefined ? undefined : refusals[name];
    const fault = code && new Fault(code, `${name} says ${code}`);
    response.writeHead(fault ? faultTable[fault.code].http : 200);
    response.end(JSON.stringify(fault ?? (name ? there.find((one) => one.name === name) : there)));
  });
  await new Promise<void>((done) => server.listen(join(home, 'carrel.sock'), done));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(home, { recursive: true });
});

function context(json = false) {
  const stdout = { write: (text: string) => (printed += text) };
  const stderr = { write: (text: string) => (warned += text) };
  return { home, socket: null, user: null, json, table, out: new Output(json, stdout, stderr, {}) };
}
const use = (options: object, args: string[] = []) => ({ args, options, command: [] });

describe('stop --all', () => {
  test('stops running and pending sandboxes and prints their names', async () => {
    expect(await stop(context(), use({ all: true }))).toBe(0);
    expect(requests.sort()).toEqual(['POST busy stop ', 'POST waits stop ']);
    expect(printed).toBe('busy\nwaits\n');
  });

  test('goes on after a failed stop and returns the code of the first failure', async () => {
    refusals = { busy: 'timeout' };
    expect(await stop(context(true), use({ all: true, grace: '1' }))).toBe(75);
    expect(JSON.parse(printed)).toEqual([expect.objectContaining({ name: 'waits' })]);
    expect(warned).toContain('busy says timeout');
  });

  test('ignores sandboxes that were removed meanwhile', async () => {
    refusals = { busy: 'not_found', waits: 'not_found' };
    expect(await stop(context(), use({ all: true }))).toBe(0);
    expect(warned).toBe('');
  });

  test('is refused together with names, and stop without both is refused', async () => {
    await expect(stop(context(), use({ all: true }, ['busy']))).rejects.toThrow('not both');
    await expect(stop(context(), use({}))).rejects.toThrow('no sandbox is named');
    expect(requests).toEqual([]);
  });
});

describe('start --all', () => {
  test('starts stopped and lost sandboxes, but none whose command ended by itself', async () => {
    expect(await start(context(), use({ all: true }))).toBe(0);
    expect(requests.sort()).toEqual(['POST gone start ', 'POST young start ']);
  });

  test('is refused together with names, and start without both is refused', async () => {
    await expect(start(context(), use({ all: true }, ['young']))).rejects.toThrow('not both');
    await expect(start(context(), use({}))).rejects.toThrow('no sandbox is named');
  });
});

describe('rm --all', () => {
  const names = () => requests.map((one) => one.split(' ')[1]).sort();

  test('removes ended sandboxes, and with --force also running ones', async () => {
    expect(await rm(context(), use({ all: true, yes: true }))).toBe(0);
    expect(names()).toEqual(['gone', 'odd', 'old', 'older', 'young']);
    expect(requests.every((one) => !one.includes('force') && !one.includes('staleMs'))).toBe(true);
    requests = [];
    expect(await rm(context(), use({ all: true, yes: true, force: true }))).toBe(0);
    expect(names()).toEqual(['busy', 'gone', 'odd', 'old', 'older', 'waits', 'young']);
  });

  test('lists the sandboxes and removes nothing without a terminal to ask at', async () => {
    await expect(rm(context(), use({ all: true }))).rejects.toThrow('not a terminal to ask at');
    expect(requests.every((one) => one.includes('dryRun=true'))).toBe(true);
    expect(warned).toContain('would remove young, stopped ');
  });
});

describe('rm --stale', () => {
  const stale = (options: object = {}) => use({ stale: '7d', yes: true, ...options });
  const removals = () => requests.map((one) => one.split(' ').slice(0, 2).join(' '));

  test('requests removal only of sandboxes that ended that long ago, and the daemon gets the age', async () => {
    expect(await rm(context(), stale())).toBe(0);
    expect(requests.sort()).toEqual([`DELETE old  staleMs=${7 * day}`, `DELETE older  staleMs=${7 * day}`]);
    expect(printed).toBe('old\nolder\n');
    expect(await rm(context(), stale({ force: true, stale: '30d' }))).toBe(0);
    expect(requests.at(-1)).toBe(`DELETE older  staleMs=${30 * day}&force=true`);
  });

  test('keeps sandboxes with unapplied changes, prints why, and succeeds', async () => {
    refusals = { old: 'conflict' };
    expect(await rm(context(), stale())).toBe(0);
    expect(printed).toBe('older\n');
    expect(warned).toBe('kept old: old says conflict\n');
    printed = '';
    expect(await rm(context(true), stale())).toBe(0);
    expect(JSON.parse(printed)).toMatchObject({
      removed: [{ name: 'older' }],
      kept: [{ name: 'old', reason: 'old says conflict' }],
    });
  });

  test('goes on after a failed removal and returns the code of the first failure', async () => {
    refusals = { old: 'unavailable' };
    expect(await rm(context(), stale())).toBe(75);
    expect(printed).toBe('older\n');
    refusals = { old: 'not_found', older: 'not_found' };
    expect(await rm(context(), stale())).toBe(0);
  });

  test('shows what it would remove and removes nothing without a terminal to ask at', async () => {
    refusals = { old: 'conflict' };
    const refused = await rm(context(), stale({ yes: false })).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'invalid', data: { removed: ['older'], kept: [{ name: 'old' }] } });
    expect(warned).toBe('would remove older, failed 90d ago\nkept old: old says conflict\n');
    expect(requests.every((one) => one.includes('dryRun=true'))).toBe(true);
    expect(removals().sort()).toEqual(['DELETE old', 'DELETE older']);
  });

  test('does not ask if there is nothing to remove', async () => {
    expect(await rm(context(), stale({ yes: false, stale: '1000d' }))).toBe(0);
    expect(warned).toBe('there is nothing to remove\n');
  });

  test('is refused together with names or without a valid time span, before any request', async () => {
    await expect(rm(context(), use({ stale: '7d' }, ['old']))).rejects.toThrow('not both');
    await expect(rm(context(), stale({ stale: '7' }))).rejects.toThrow('is not a time span');
    await expect(rm(context(), use({}))).rejects.toThrow('no sandbox is named');
    await expect(rm(context(), use({ yes: true }, ['old']))).rejects.toThrow('--yes is for --all and --stale');
    expect(requests).toEqual([]);
  });
});
