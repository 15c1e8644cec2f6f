/**
 * Agents in terminals: the time until the program's first words are on the screen, beside the same program on the same
 * terminal.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Installation } from '../harness/installation.ts';
import type { Cleanup } from './cleanup.ts';
import type { Options } from './options.ts';
import { atMost, type Row, row } from './report.ts';
import { interleave, summarize } from './sample.ts';

interface Parts {
  readonly options: Options;
  readonly cleanup: Cleanup;
  readonly signal: AbortSignal;
}

const detach = '\x10\x11';
const name = 'project-claude';

export async function measureTerminal({ options, cleanup, signal }: Parts): Promise<Row[]> {
  const carrel = new Installation();
  cleanup.add('the installation of agents in terminals', () => carrel.dispose());
  const project = carrel.folder('project');
  const programs = carrel.folder('programs');
  carrel.write('programs/claude', '#!/bin/sh\necho the first words\nexec sleep 1000\n');
  chmodSync(join(programs, 'claude'), 0o755);
  await carrel.run(['secret', 'set', 'ANTHROPIC_API_KEY'], { input: 'none' });
  const env = { PATH: `${programs}:${process.env.PATH}`, HOME: carrel.home, CARREL_HOME: carrel.home, TERM: 'xterm' };
  const command = [process.execPath, '--', resolve('bin/carrel')];
  const shown = (...args: string[]) => firstWords([...command, ...args], env, project);
  await shown('claude');
  const stop = () => carrel.ok('stop', '--grace', '0', name);
  const { alone, attach, start } = await interleave(
    Math.ceil(options.rounds / 2),
    {
      alone: () => firstWords(['/bin/sh', '-c', 'echo the first words; read -r line'], env, project),
      attach: () => shown('attach', name),
      start: async () => {
        await stop();
        return shown('claude');
      },
    },
    signal,
  );
  await carrel.clear();
  const own = summarize(alone).p50;
  const [attached, started] = [attach, start].map((times) => summarize(times.map((ms) => ms - own)));
  return [
    row('carrel attach → its screen, on top of the terminal', attached!, [atMost(attached!, 60)]),
    row('carrel claude on a known sandbox → first byte, on top of the agent', started!, [atMost(started!, 150)]),
  ];
}

/** The time from the start of a program on a terminal to its first words; then the program is left. */
async function firstWords(argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<number> {
  const from = performance.now();
  const child = spawn('/usr/bin/python3', [resolve('test/fixtures/terminal.py'), '24', '80', ...argv], { env, cwd });
  const closed = once(child, 'close');
  let text = '';
  const ms = await new Promise<number>((settle, fail) => {
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('the first words')) settle(performance.now() - from);
    });
    child.on('close', () => fail(new Error(`${argv.at(-1)} ended: ${text}`)));
  });
  child.stdin.write(`${JSON.stringify({ type: `${detach}\r` })}\n`);
  await closed;
  return ms;
}
