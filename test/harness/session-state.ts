/** The state of a sandbox with sessions, its agent API and its daemon, for the error of a test that timed out. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sessionsFolder } from '../../src/noun/session/model/session.ts';
import type { Installation } from './installation.ts';
import type { Talk } from './session.ts';
import { processesBeside } from './session-inside.ts';

const lastBytes = 3000;
const lastLines = 6;
const askMs = 5000;

/**
 * `first`: the pid on the host of the first process of the sandbox. Returns lines of text; a part that cannot be read
 * says why.
 */
export async function stateOf(carrel: Installation, first: string, talks: readonly Talk[]): Promise<string[]> {
  const inside = join(`/proc/${first}/root`, sessionsFolder);
  const sessions = await Promise.all(talks.map((talk) => sessionState(talk, inside)));
  return [
    ...sessions.flat(),
    `copies: ${tried(() => copiesIn(join(carrel.home, 'sandboxes')))}`,
    `processes inside: ${tried(() => processesBeside(first, '').map(processState).join('\n  '))}`,
    `connections inside: ${tried(() => connectionsOf(first))}`,
    `daemon: ${tried(() => processState(carrel.daemonPid))}`,
    `log of the agent API: ${tried(() => end(join(inside, 'agent-api.log')))}`,
    `log of the daemon: ${tried(() => end(join(carrel.home, 'daemon.log')))}`,
  ];
}

async function sessionState(talk: Talk, inside: string): Promise<string[]> {
  const late = pause(askMs, `no answer in ${askMs} ms`, { ref: false });
  const shown = await Promise.race([talk.show().catch((error: Error) => error.message), late]);
  const log = tried(() =>
    readFileSync(join(inside, talk.id, 'events.ndjson'), 'utf8')
      .trimEnd()
      .split('\n'),
  );
  return [
    `session ${talk.id}, as the daemon has it: ${JSON.stringify(shown)}`,
    `  its log inside: ${Array.isArray(log) ? [`${log.length} events`, ...log.slice(-lastLines)].join('\n  ') : log}`,
  ];
}

/** The length of each copy, in events. */
function copiesIn(sandboxes: string): string {
  const files = readdirSync(sandboxes, { recursive: true, encoding: 'utf8' });
  const logs = files.filter((path) => /\/sessions\/[^/]+\.ndjson/.test(path));
  return logs.map((path) => `${path} ${readFileSync(join(sandboxes, path), 'utf8').split('\n').length - 1}`).join(', ');
}

function processState(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 120);
  const [, state] = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const waits = tried(() => readFileSync(`/proc/${pid}/wchan`, 'utf8'));
  return `${pid} ${state} ${waits} since ${statSync(`/proc/${pid}`).ctime.toISOString()} ${words}`;
}

/** TCP connections that have not ended, with their queues: addresses and states as the kernel prints them. */
function connectionsOf(first: string): string {
  const rows = readFileSync(`/proc/${first}/net/tcp`, 'utf8').split('\n').slice(1);
  const [stateAt, timeWait] = [3, '06'];
  const open = rows.map((row) => row.trim().split(/\s+/)).filter((words) => words[stateAt] !== timeWait);
  return open.map((words) => words.slice(1, 5).join(' ')).join('\n  ');
}

function end(path: string): string {
  return readFileSync(path, 'utf8').slice(-lastBytes);
}

function tried<T>(act: () => T): T | string {
  try {
    return act();
  } catch (error) {
    return `unknown: ${(error as Error).message}`;
  }
}
