import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Exit, Process } from '../../../../kernel/engine/engine.ts';
import { sandboxNotRunning } from '../../../../kernel/engine/exit.ts';
import type { Project } from '../../../project/model/project.ts';
import type { Sandbox } from '../../../sandbox/model.ts';
import { serve } from '../../inside/serve.ts';
import { idlePath } from '../../model/spoke.ts';
import { Spoke } from './spoke.ts';

const project: Project = { id: 'shop', folder: '/shop', mode: 'bind', test: null, createdAt: 'now' };
const list = { path: '', depth: 1, limit: 1 };
const exitCode = (code: number): Exit => ({ exitCode: code, signal: null, outOfMemory: false });

/** An engine with one sandbox. `die`: the program ends before it answers. */
class FakeEngine {
  /** `ending`: the sandbox looks as if it ran, but no program can be started in it. */
  state: 'absent' | 'running' | 'ending' | 'stopped' = 'absent';
  die: string | null = null;
  starts = 0;
  isInUse = false;
  nowMs = 0;
  readonly observed: string[] = [];
  kill: (exit: Exit) => void = () => {};

  readonly parts = {
    sandboxes: {
      current: async () => ({ value: this.#sandbox }),
      create: async () => this.#run(),
      start: async () => this.#run(),
      wait: async () => {
        this.state = 'stopped';
      },
      stop: async () => {
        this.state = 'stopped';
        this.kill({ exitCode: 143, signal: 'SIGTERM', outOfMemory: false });
      },
    },
    exec: async () => this.#exec(),
    ended: async () => {},
    isInUse: () => this.isInUse,
    setup: () => ({ languages: null, servers: [] }),
    observed: (_: Project, state: string, reason: string | null) =>
      void this.observed.push(reason === null ? state : `${state}: ${reason}`),
    idleMs: () => 60_000,
    nowMs: () => this.nowMs,
  };

  async #run() {
    this.state = 'running';
  }

  get #sandbox(): Sandbox {
    const spec = { project: '/shop', command: [idlePath] };
    return {
      spec,
      status: { state: ['running', 'ending'].includes(this.state) ? 'running' : 'stopped' },
    } as unknown as Sandbox;
  }

  #exec(): Process {
    if (this.state === 'ending') throw sandboxNotRunning();
    this.starts += 1;
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const exited = new Promise<Exit>((resolve) => {
      this.kill = (exit) => {
        for (const stream of [stdin, stdout, stderr]) stream.destroy();
        resolve(exit);
      };
    });
    if (this.die === null) void serve('/nonexistent', stdin, stdout).catch(() => {});
    else {
      stderr.write(this.die);
      setImmediate(() => this.kill(exitCode(3)));
    }
    return { stdin, stdout, stderr, exited } as unknown as Process;
  }
}

let engine: FakeEngine;
let spoke: Spoke;
const ping = () => spoke.call('spoke/ping', {});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  engine = new FakeEngine();
  spoke = new Spoke(project, engine.parts);
});
afterEach(() => {
  spoke.release();
  vi.useRealTimers();
});

it('the first call starts the spoke, and calls at the same time share the start', async () => {
  expect(engine.starts).toBe(0);
  await Promise.all([ping(), ping(), ping()]);
  expect(engine.starts).toBe(1);
  expect(engine.observed).toEqual(['healthy']);
});

it('a spoke is unreachable after its end, and healthy again after the next call', async () => {
  await ping();
  engine.kill({ exitCode: 137, signal: 'SIGKILL', outOfMemory: false });
  await vi.waitFor(() => expect(spoke.isHealthy).toBe(false));
  await ping();
  expect(engine.observed).toEqual(['healthy', 'unreachable: SIGKILL', 'healthy']);
});

it('a call waits for the end of a sandbox that was killed, and starts it', async () => {
  await ping();
  engine.state = 'ending';
  engine.kill({ exitCode: 137, signal: 'SIGKILL', outOfMemory: false });
  await vi.waitFor(() => expect(spoke.isHealthy).toBe(false));
  await ping();
  expect(engine.state).toBe('running');
});

it('a refusal by the spoke is passed on, and the spoke stays healthy', async () => {
  await expect(spoke.call('file/list', list)).rejects.toMatchObject({ code: 'not_found' });
  expect(spoke.isHealthy).toBe(true);
});

describe('a spoke that dies at once', () => {
  it('fails the call with its exit code and the end of its stderr', async () => {
    engine.die = 'no Node.js';
    await expect(ping()).rejects.toMatchObject({ message: expect.stringMatching(/exit code 3.*no Node\.js/) });
  });

  it('is not started for every call: later calls fail at once with the reason', async () => {
    engine.die = 'no Node.js';
    for (let i = 0; i < 20; i++) await ping().catch(() => {});
    expect(engine.starts).toBe(2);
    await expect(ping()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/2 times in a row.*no Node\.js/),
      hint: expect.stringMatching(/in 1 s/),
    });
  });

  it('is started again when the back-off is over', async () => {
    engine.die = 'no Node.js';
    for (let i = 0; i < 3; i++) await ping().catch(() => {});
    engine.die = null;
    engine.nowMs = 500;
    await ping();
    expect(engine.starts).toBe(3);
  });
});

describe('the idle time', () => {
  it('stops the sandbox, which is then registered, and the next call starts it', async () => {
    await ping();
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.waitFor(() => expect(engine.state).toBe('stopped'));
    await ping();
    expect(engine.state).toBe('running');
    expect(engine.observed).toEqual(['healthy', 'registered', 'healthy']);
  });

  it('does not pass while a call runs', async () => {
    await ping();
    const running = ping();
    vi.advanceTimersByTime(3_600_000);
    expect(engine.state).toBe('running');
    await running;
  });

  it('begins again while a client runs a command in the sandbox', async () => {
    await ping();
    engine.isInUse = true;
    await vi.advanceTimersByTimeAsync(120_000);
    expect(engine.state).toBe('running');
    engine.isInUse = false;
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.waitFor(() => expect(engine.state).toBe('stopped'));
  });

  it('also ends a sandbox that an earlier daemon left running', async () => {
    engine.state = 'running';
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.waitFor(() => expect(engine.state).toBe('stopped'));
  });
});
