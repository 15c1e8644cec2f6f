import { expect, test } from 'vitest';
import type { LogLine, Observed } from '../../../kernel/engine/engine.ts';
import { Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../model.ts';
import { resumeOutput, SentOutput } from './resume-output.ts';

const away = new Fault('unavailable', 'no Docker Engine answers');
const running = { kind: 'running', started: { handle: {}, runtime: 'runc', advisory: [] } } as const;
const ended = { kind: 'exited', exit: { exitCode: 0, signal: null, outOfMemory: false } } as const;

interface Story {
  /** What the engine answers, one after another. */
  readonly observations: readonly (Observed | Fault)[];
  readonly log?: readonly (LogLine | Fault)[];
  readonly got?: string;
  readonly quiet?: boolean;
}

const at = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString();
const logged = (text: string, offsetMs: number): LogLine => {
  return { at: at(offsetMs), stream: 'stdout', bytes: Buffer.from(text) };
};

async function resume({ observations, log = [], got = '', quiet = true }: Story) {
  const answers = [...observations];
  const output: string[] = [];
  const notes: string[] = [];
  const sent = new SentOutput();
  if (quiet) sent.bytes.stdout = got.length;
  else sent.add('stdout', got.length);
  const inspect = async () => {
    const answer = answers.shift()!;
    if (answer instanceof Fault) throw answer;
    return answer;
  };
  const lines = [...log];
  async function* logs() {
    for (let line = lines.shift(); line; line = lines.shift()) {
      if (line instanceof Fault) throw line;
      yield line;
    }
  }
  const whole = await resumeOutput({
    engine: { inspect, logs },
    sandbox: { id: 'x', name: 'box', spec: { engine: 'docker' }, status: { handle: null } } as Sandbox,
    sent,
    send: async (_stream, bytes) => void output.push(bytes.toString()),
    note: (message) => void notes.push(message),
    onReturn: async () => {},
    signal: new AbortController().signal,
  });
  return { whole, output: output.join(''), notes };
}

test('nothing more is passed on for a command that has ended', async () => {
  expect(await resume({ observations: [ended] })).toEqual({ whole: true, output: '', notes: [] });
});

test('the client gets a notice at once, then what the command wrote meanwhile', async () => {
  const log = [logged('one\n', -9000), logged('two\n', 9000)];
  const { whole, output, notes } = await resume({ observations: [away, away, running], log, got: 'one\n' });
  expect([whole, output]).toEqual([true, 'two\n']);
  expect(notes).toEqual([
    'no Docker Engine answers; waiting for it, Ctrl-C stops',
    'the engine answers again; box runs',
  ]);
});

test('output in the log that the client has not received is passed on', async () => {
  const log = [logged('one\ntwo\n', -9000)];
  expect((await resume({ observations: [away, running], log, got: 'one\n' })).output).toBe('two\n');
});

test('a line that was unfinished when the connection broke is not joined with the next line', async () => {
  const log = [logged('one\n', -9000), logged('end\n', 9000)];
  expect((await resume({ observations: [away, running], log, got: 'one\nunfin' })).output).toBe('end\n');
});

test.each<[string, Story]>([
  ['the command ended while the engine was away', { observations: [away, ended] }],
  ['the command wrote just before the connection broke', { observations: [away, running], got: 'x', quiet: false }],
  ['the log has dropped its first lines', { observations: [away, running], got: 'x'.repeat(1e6) }],
  ['the engine goes away again', { observations: [away, running, running], log: [logged('x\n', 9000), away] }],
])('output may be missing when %s', async (_, story) => {
  expect((await resume({ ...story, observations: [...story.observations, ended] })).whole).toBe(false);
});
