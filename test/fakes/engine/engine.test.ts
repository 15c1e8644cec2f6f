import { describe, expect, it } from 'vitest';
import { Fault, isFault } from '../../../src/model/fault.ts';
import { type Commands, type EngineSetup, flooded, type SharedFolder } from '../../conformance/engine/setup.ts';
import { engineConformance } from '../../conformance/engine.ts';
import { sampleLaunch } from '../../fixtures/launch.ts';
import { createFakeEngine } from './engine.ts';
import type { FakeProgram, ProgramSurroundings, Programs } from './process.ts';
import { writeAndDrain } from './process.ts';
import { forever, say } from './program.ts';

engineConformance('the fake engine', async () => fakeSetup());

function fakeSetup(): EngineSetup {
  const shared = new SharedMemory();
  const engine = createFakeEngine({ programs: programsOver(shared) });
  return {
    engine,
    launch,
    reopen: async () => engine.reopen(),
    shared,
    commands,
    cleanup: async () => {},
  };
}

const launch = sampleLaunch;

class SharedMemory implements SharedFolder {
  readonly #lines = new Map<string, number>();
  #wake = () => {};

  async touch(name: string): Promise<void> {
    this.#lines.set(name, this.#lines.get(name) ?? 0);
    this.#wake();
  }

  async lines(name: string): Promise<number> {
    return this.#lines.get(name) ?? 0;
  }

  addLine(name: string): void {
    this.#lines.set(name, (this.#lines.get(name) ?? 0) + 1);
  }

  async whenThere(name: string): Promise<void> {
    while (!this.#lines.has(name)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

const commands: Commands = {
  print: (text) => ['print', text],
  printBoth: (stdout, stderr) => ['print-both', stdout, stderr],
  printEnv: ['env'],
  printFolder: ['pwd'],
  copyStdin: ['cat'],
  flood: (bytes) => ['flood', String(bytes)],
  exit: (code) => ['exit', String(code)],
  dieBy: (signal) => ['die', signal],
  missing: ['missing'],
  wait: ['wait'],
  exitOnTerm: (code) => ['exit-on-term', String(code)],
  ignoreTerm: ['ignore-term'],
  count: (file, code) => ['count', file, String(code)],
  countAndWait: (file) => ['count-and-wait', file],
  afterFile: ({ go, bytes, done, code }) => ['after-file', go, String(bytes), done, String(code)],
  tick: (file) => ['tick', file],
  tellTerminal: ['tell-terminal'],
  tellSize: ['tell-size'],
};

function programsOver(shared: SharedMemory): Programs {
  return {
    print: ({ args, stdout }) => say(stdout, args[0]!),
    'print-both': ({ args, stdout, stderr }) => {
      say(stdout, args[0]!);
      return say(stderr, args[1]!);
    },
    flood,
    die: ({ args }) => args[0] as NodeJS.Signals,
    wait: waiting(() => {}),
    'exit-on-term': (inside) =>
      new Promise((resolve) => {
        inside.onSignal('SIGTERM', () => resolve(Number(inside.args[0])));
        say(inside.stdout, 'ready\n');
      }),
    'ignore-term': waiting(({ onSignal }) => onSignal('SIGTERM', () => {})),
    count: ({ args }) => {
      shared.addLine(args[0]!);
      return Number(args[1]);
    },
    'count-and-wait': waiting(({ args }) => shared.addLine(args[0]!)),
    'after-file': async ({ args: [go, bytes, done, code], ...inside }) => {
      say(inside.stdout, 'ready\n');
      await shared.whenThere(go!);
      await flood({ ...inside, args: [bytes!] });
      shared.addLine(done!);
      return Number(code);
    },
    tick: async ({ args, stdout }) => {
      for (say(stdout, 'ready\n'); ; await new Promise(setImmediate)) {
        await new Promise((written) => stdout.write('.\n', written));
        shared.addLine(args[0]!);
      }
    },
    'tell-terminal': ({ terminal, stdout }) => say(stdout, terminal() ? 'terminal\n' : 'pipe\n'),
    'tell-size': waiting(({ terminal, stdout, onSignal }) => {
      const tell = () => say(stdout, `${terminal()?.rows} ${terminal()?.columns}\n`);
      tell();
      onSignal('SIGWINCH', tell);
    }),
  };
}

function waiting(prepare: (inside: ProgramSurroundings) => void): FakeProgram {
  return (inside) => {
    prepare(inside);
    say(inside.stdout, 'ready\n');
    return forever();
  };
}

async function flood({ args, stdout }: ProgramSurroundings): Promise<number> {
  const all = flooded(Number(args[0]));
  for (let at = 0; at < all.length; at += 65_536) await writeAndDrain(stdout, all.subarray(at, at + 65_536));
  return 0;
}

describe('the fake engine', () => {
  const fault = new Fault('unavailable', 'made to fail');
  const failure = (work: Promise<unknown>) => expect(work).rejects.toBe(fault);

  it('fails the next call before its effect', async () => {
    const engine = createFakeEngine();
    engine.faults.failNext('start', fault);
    const request = launch({ command: ['true'] });
    await failure(engine.start(request));
    expect(await engine.list()).toEqual([]);
    await engine.start(request);
    expect(engine.begun).toEqual([request]);
  });

  it('fails the next call after its effect', async () => {
    const engine = createFakeEngine();
    const request = launch({});
    engine.faults.failNext('start', fault, 'after');
    await failure(engine.start(request));
    expect(await engine.inspect(request.id, null)).toMatchObject({ kind: 'running' });
    engine.faults.failNext('remove', fault, 'after');
    await failure(engine.remove(request.id, null));
    expect(await engine.inspect(request.id, null)).toEqual({ kind: 'absent' });
  });

  it('fails several calls in order, and a call of logs when the log is read', async () => {
    const engine = createFakeEngine();
    for (const _ of [1, 2]) engine.faults.failNext('list', fault);
    await failure(engine.list());
    await failure(engine.list());
    expect(await engine.list()).toEqual([]);
    engine.faults.failNext('logs', fault);
    const [lines] = [engine.logs('0', { follow: false, tail: null })[Symbol.asyncIterator]()];
    await failure(lines.next());
  });

  it('can leave a sandbox created: start continues from there and stop makes it absent', async () => {
    const engine = createFakeEngine();
    const [first, second] = [launch({}), launch({})];
    engine.faults.failNext('start', fault, 'created');
    await failure(engine.start(first));
    expect(await engine.inspect(first.id, null)).toEqual({ kind: 'created' });
    expect(engine.begun).toEqual([]);
    await engine.start(first);
    expect(engine.begun).toEqual([first]);
    engine.leave(second, 'created');
    await engine.stop(second.id, null, 1000);
    expect(await engine.inspect(second.id, null)).toEqual({ kind: 'absent' });
  });

  it('can end a sandbox and reports the change', async () => {
    const engine = createFakeEngine();
    const { handle } = await engine.start(launch({ id: 'a' }));
    const hints: string[] = [];
    engine.onChange((id) => hints.push(id));
    engine.end('a', { exitCode: 137, signal: 'SIGKILL', outOfMemory: true });
    expect(hints).toEqual(['a']);
    expect(await engine.inspect('a', handle)).toEqual({
      kind: 'exited',
      exit: { exitCode: 137, signal: 'SIGKILL', outOfMemory: true },
    });
  });

  it('can lose a sandbox without reporting a change', async () => {
    const engine = createFakeEngine();
    const { handle } = await engine.start(launch({ id: 'a' }));
    const hints: string[] = [];
    engine.onChange((id) => hints.push(id));
    engine.vanish('a');
    expect(await engine.inspect('a', handle)).toEqual({ kind: 'absent' });
    expect(await engine.list()).toEqual([]);
    expect(hints).toEqual([]);
  });

  it('can pause a sandbox from outside, and stop then ends it', async () => {
    const engine = createFakeEngine();
    await engine.start(launch({ id: 'a' }));
    engine.freeze('a');
    expect(await engine.inspect('a', null)).toEqual({ kind: 'paused' });
    await engine.stop('a', null, 60_000);
    expect(await engine.inspect('a', null)).toMatchObject({ kind: 'exited', exit: { signal: 'SIGKILL' } });
  });

  it('can leave orphans in any phase', async () => {
    const engine = createFakeEngine();
    const phases = ['created', 'running', 'paused', 'exited'] as const;
    for (const phase of phases) engine.leave(launch({ id: phase }), phase);
    expect(await engine.list()).toEqual(phases);
    for (const phase of phases) expect(await engine.inspect(phase, null)).toMatchObject({ kind: phase });
  });

  it('refuses limits that are demanded and cannot be enforced', async () => {
    const engine = createFakeEngine({ advisory: ['memoryBytes', 'diskBytes'] });
    const work = engine.start(launch({ demanded: ['memoryBytes'] }));
    await expect(work).rejects.toSatisfy((error) => isFault(error, 'unsupported'));
    expect((await engine.start(launch({ demanded: [] }))).advisory).toEqual(['memoryBytes', 'diskBytes']);
  });

  it('does not accept the handle of an earlier start for the running sandbox', async () => {
    const engine = createFakeEngine();
    const request = launch({});
    const { handle } = await engine.start(request);
    await engine.remove(request.id, handle);
    await engine.start(request);
    expect(await engine.inspect(request.id, handle)).toEqual({ kind: 'absent' });
  });
});
