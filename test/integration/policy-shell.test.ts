/** Compares how the policy reads a text with what real shells do. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideText } from '../../src/noun/agent/policy/decide.ts';
import { splitWords } from '../../src/noun/agent/policy/lexer.ts';
import { table } from '../../src/noun/cli.ts';
import { ShellText } from '../fixtures/shell-text.ts';

const groups = table.groups.map(({ name }) => name);
const shells = ['/bin/bash', '/bin/dash'];
const seed = Number(process.env.CARREL_SEED ?? Date.now() % 2 ** 31);
let root: string;
let cwd: string;
let programs: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-shell-')));
  cwd = join(root, 'project');
  programs = join(root, 'programs');
  mkdirSync(join(cwd, 'sub'), { recursive: true });
  mkdirSync(programs);
  // This `carrel` reports its arguments for each call, and does nothing else.
  const told = '#!/bin/sh\nprintf \'%s\\0\' "$#" "$@" >&3\n';
  writeFileSync(join(programs, 'carrel'), told);
  chmodSync(join(programs, 'carrel'), 0o755);
});
afterAll(() => rmSync(root, { recursive: true }));

function everything(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
}

/** What the shell ran: every call of `carrel` with its arguments, one after another. */
function calls(shell: string, text: string): string[] {
  const { output, status } = spawnSync(shell, ['-c', text], {
    cwd,
    env: { PATH: programs, HOME: cwd, HISTFILE: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: 30_000,
  });
  expect([text, status, String(output[1]), String(output[2])]).toEqual([text, 0, '', '']);
  return String(output[3]).split('\0').slice(0, -1);
}

test('a text that the policy can split is one command with the same words in real shells, and makes no file', () => {
  const made = new ShellText(seed);
  const before = everything();
  const certain = new Set<string>();
  for (let round = 0; certain.size < 300 && round < 100_000; round++) {
    const text = made.next(round % 30);
    const words = splitWords(text);
    if (!('argv' in words) || words.argv[0] !== 'carrel') continue;
    certain.add(text);
    const args = words.argv.slice(1);
    for (const shell of shells)
      expect([seed, text, shell, calls(shell, text)]).toEqual([seed, text, shell, [String(args.length), ...args]]);
  }
  expect(certain.size).toBe(300);
  expect(everything()).toEqual(before);
});

test('an allowed text runs as exactly one command in both shells', () => {
  const made = new ShellText(seed + 2);
  const around = { cwd, programs: [], groups };
  const heads = [
    'carrel ls',
    'carrel show',
    'carrel task list',
    "carrel task mark sub US-001 failed --notes 'x'",
    'carrel stop a',
  ];
  const found = new Set<string>();
  const before = everything();
  for (let round = 0; found.size < 100 && round < 400_000; round++) {
    const text = `${heads[round % heads.length]} ${made
      .next(round % 20)
      .split(' ')
      .slice(-1 - (round % 2))
      .join(' ')}`;
    const words = splitWords(text);
    if (found.has(text) || decideText(text, [], around).decision !== 'allow') continue;
    found.add(text);
    const args = 'argv' in words ? words.argv.slice(1) : [];
    for (const shell of shells)
      expect([seed, text, calls(shell, text)]).toEqual([seed, text, [String(args.length), ...args]]);
  }
  expect(found.size).toBeGreaterThan(20);
  expect(everything()).toEqual(before);
});
