// @takes 75 s
/** How the adapter ends, survives a kill and goes on, and how it handles its connections meanwhile. */
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeMessage } from '../../src/noun/swarm/model/message-line.ts';
import { AdapterBench, type AdapterRun, branchName, request, scriptedAgent } from '../harness/adapter.ts';
import { isRunning, until } from '../harness/installation.ts';
import { put } from '../harness/working-copy.ts';

let bench: AdapterBench;
beforeEach(() => {
  bench = new AdapterBench();
});
afterEach(() => bench.dispose());

function file(name: string): string {
  return join(bench.folder, name);
}

function begun(run: AdapterRun, storyId = 'US-001'): Promise<void> {
  return run.hears(
    ({ type, payload }) =>
      type === 'progress-update' && payload.storyId === storyId && payload.status === 'in_progress',
    `${storyId} to begin`,
  );
}

describe('an adapter that is killed', () => {
  const four = ['append b 1', 'append c 2', 'append d 3', 'append e 4'].map((does, index) => ({
    does,
    after: index === 3 ? ['US-001', 'US-002'] : [],
  }));

  function expectAllOnce(): void {
    expect([...bench.landed].sort()).toEqual(['US-001', 'US-002', 'US-003', 'US-004']);
    expect(['b', 'c', 'd', 'e'].map((name) => bench.show(name))).toEqual(['1', '2', '3', '4']);
    expect(bench.repository.git('fsck', '--no-dangling')).toBe('');
  }

  it('before anything is noted leaves nothing on the branch', async () => {
    bench.plan(four, 2);
    for (let runs = 0; runs < 2; runs += 1) {
      expect((await bench.complete({}, { CARREL_CRASH_AT: 'story:committed' })).completion).toBeUndefined();
    }
    expect(bench.landed).toEqual([]);
    await bench.complete();
    expectAllOnce();
  });

  it.each(['story:noted', 'story:landed', 'story:reported'])(
    'at %s in every run puts each story on the branch exactly once in the end',
    async (point) => {
      bench.plan(four, 2);
      for (let runs = 0; runs < 4; runs += 1) {
        expect((await bench.complete({}, { CARREL_CRASH_AT: point })).completion).toBeUndefined();
      }
      expect((await bench.complete({}, { CARREL_CRASH_AT: point })).completion?.status).toBe('completed');
      expectAllOnce();
    },
  );

  it('at any moment puts each story on the branch exactly once in the end', async () => {
    bench.plan(four, 2);
    for (const ms of [150, 300, 200, 400, 250]) {
      const run = bench.start();
      run.ask();
      const timer = setTimeout(() => run.kill(), ms);
      await run.exited;
      clearTimeout(timer);
      await bench.endAll();
    }
    const last = await bench.complete();
    expect(last.completion?.status).toBe('completed');
    expectAllOnce();
  });

  it('with its agent in the middle of git goes on in the next run', async () => {
    bench.plan([{ does: `write b x\nwrite ${file('there')} x\nwait ${file('go')}` }]);
    const run = bench.start();
    run.ask();
    await until(() => existsSync(file('there')), 'the agent to work');
    run.kill();
    await run.exited;
    await bench.endAll();
    for (const lock of ['index.lock', 'HEAD.lock']) writeFileSync(join(bench.repository.path, '.git', lock), '');
    writeFileSync(file('go'), '');
    expect((await bench.complete()).completion?.status).toBe('completed');
    expect(bench.landed).toEqual(['US-001']);
  });

  it('in the middle of making a checkout, which is locked meanwhile, goes on in the next run', async () => {
    bench.plan([{ does: 'write b x' }]);
    const lane = join(bench.data, 'lanes/0');
    bench.repository.git('worktree', 'add', '--quiet', '--lock', '--detach', lane);
    rmSync(lane, { recursive: true });
    expect((await bench.complete()).completion).toEqual({ status: 'completed', prUrl: null, errors: [] });
  });

  it('before a checkout has the packages of the workspace, gives them to the next', async () => {
    put(bench.repository.path, { '.gitignore': 'node_modules\n', 'node_modules/x': 'there\n' });
    bench.plan([{ does: 'read node_modules/x' }]);
    expect((await bench.complete({}, { CARREL_CRASH_AT: 'lane:added' })).completion).toBeUndefined();
    await bench.complete();
    expect(bench.outcome.stories['US-001']).toMatchObject({ status: 'completed', output: 'there' });
    expect(bench.repository.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('and lost its record, finds the finished stories on the branch', async () => {
    bench.plan([{ does: 'append b 1' }, { does: 'exit 1' }]);
    await bench.complete();
    rmSync(bench.data, { recursive: true });
    bench.plan([{ does: 'append b 1' }, { does: 'append c 2' }]);
    const run = await bench.complete();
    expect(run.changes).toEqual(['US-001 completed', 'US-002 in_progress', 'US-002 completed']);
    expect([bench.show('b'), bench.show('c')]).toEqual(['1', '2']);
  });

  it('while an agent had moved the branch, goes on from the last story', async () => {
    bench.plan([{ does: 'append b 1' }, { does: 'exit 1', after: ['US-001'] }]);
    await bench.complete();
    bench.repository.git('checkout', '-q', branchName);
    bench.repository.commit({ stray: 'x' }, 'stray');
    bench.plan([{ does: '' }, { does: 'append c 2', after: ['US-001'] }]);
    expect((await bench.complete()).completion?.status).toBe('completed');
    expect(bench.repository.git('ls-tree', '--name-only', branchName)).toBe('a\nb\nc');
  });
});

describe('SIGTERM', () => {
  it('is passed to the agent, and the completion has the status stopped', async () => {
    bench.plan([{ does: `on-term ${file('told')}\nwrite ${file('there')} x\nwait ${file('never')}` }, { does: '' }], 1);
    const run = bench.start();
    run.ask();
    await until(() => existsSync(file('there')), 'the agent to work');
    run.child.kill('SIGTERM');
    expect(await run.exited).toBe(130);
    expect(readFileSync(file('told'), 'utf8')).toBe('SIGTERM');
    expect(run.completion).toEqual({
      status: 'stopped',
      prUrl: null,
      errors: ['US-001: stopped before it was finished', 'US-002: was not begun'],
    });
    expect(bench.outcome.completion).toEqual(run.completion);
  });

  it('becomes SIGKILL after five seconds for an agent that stays, and for its children', async () => {
    const stay = `on-term ${file('told')} stay\nleave ${file('pids')}\nwrite ${file('there')} x\nwait ${file('never')}`;
    bench.plan([{ does: stay }]);
    const run = bench.start();
    run.ask();
    await until(() => existsSync(file('there')), 'the agent to work');
    const before = performance.now();
    run.child.kill('SIGTERM');
    run.child.kill('SIGTERM');
    expect(await run.exited).toBe(130);
    expect(performance.now() - before).toBeGreaterThan(4900);
    const pids = readFileSync(file('pids'), 'utf8').trim().split('\n').map(Number);
    await until(() => pids.filter(isRunning).length === 0, 'what was killed to be gone');
  });

  it('in the middle of a clone cancels the clone', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const connected = once(silent, 'connection');
    const run = bench.start();
    run.ask({ repoUrl: `https://127.0.0.1:${(silent.address() as AddressInfo).port}/r.git` });
    const [socket] = (await connected) as [Socket];
    run.child.kill('SIGTERM');
    expect(await run.exited).toBe(130);
    expect(run.completion?.status).toBe('stopped');
    socket.destroy();
    silent.close();
  });

  it('before a request ends the adapter with 130', async () => {
    const run = bench.start();
    run.child.stdin!.write('?\n');
    await run.hears(({ type }) => type === 'error', 'it to listen');
    run.child.kill('SIGTERM');
    expect(await run.exited).toBe(130);
  });
});

describe('a connection', () => {
  const waits = () => bench.plan([{ does: `say working\nwait ${file('go')}\nwrite b x` }]);

  it('whose input ends does not end the work', async () => {
    waits();
    const run = bench.start();
    run.ask();
    run.child.stdin!.end();
    await begun(run);
    writeFileSync(file('go'), '');
    expect(await run.exited).toBe(0);
    expect(run.completion?.status).toBe('completed');
  });

  it('that breaks does not end the work, and the record has its outcome', async () => {
    waits();
    const run = bench.start();
    run.ask();
    await begun(run);
    run.child.stdout!.destroy();
    run.child.stderr!.destroy();
    run.child.stdin!.destroy();
    writeFileSync(file('go'), '');
    expect(await run.exited).toBe(0);
    expect(bench.outcome.completion?.status).toBe('completed');
    expect(bench.landed).toEqual(['US-001']);
  });

  it('that is made again reaches the running adapter and gets the current status of all stories', async () => {
    bench.plan([{ does: 'write a x' }, { does: `say working\nwait ${file('go')}`, after: ['US-001'] }]);
    const run = bench.start();
    run.ask();
    await begun(run, 'US-002');
    run.child.stdin!.end();
    const again = bench.start();
    again.ask();
    await begun(again, 'US-002');
    expect(again.changes).toEqual(['US-001 completed', 'US-002 in_progress']);
    writeFileSync(file('go'), '');
    expect(await Promise.all([run.exited, again.exited])).toEqual([0, 0]);
    expect(again.completion).toEqual(run.completion);
    expect(bench.landed).toEqual(['US-001', 'US-002']);
  });

  it('that ends again does not disturb the work', async () => {
    waits();
    const run = bench.start();
    run.ask();
    await begun(run);
    for (let times = 0; times < 3; times += 1) {
      const again = bench.start();
      await begun(again);
      again.kill();
      await again.exited;
    }
    writeFileSync(file('go'), '');
    expect(await run.exited).toBe(0);
  });

  it('gets everything again when it repeats its request, and a refusal when it sends another one', async () => {
    waits();
    const run = bench.start();
    run.ask();
    await begun(run);
    const before = run.messages.length;
    run.ask();
    await until(() => run.messages.length > before, 'the answer');
    expect(run.messages.at(-1)).toMatchObject({ payload: { storyId: 'US-001', status: 'in_progress' } });
    run.ask({ branchName: 'other' });
    await run.hears(({ type }) => type === 'error', 'the refusal');
    expect(run.errors).toEqual(['INVALID_INPUT this adapter works on another task']);
    writeFileSync(file('go'), '');
    expect(await run.exited).toBe(0);
  });

  it('that is slow to read does not delay the work', async () => {
    bench.plan([{ does: 'flood 2\nwrite b x' }]);
    const run = bench.start();
    run.child.stdout!.pause();
    run.ask();
    await until(
      () => existsSync(join(bench.data, 'outcome.json')) && bench.outcome.completion !== null,
      'the end',
      100_000,
    );
    run.child.stdout!.resume();
    expect(await run.exited).toBe(0);
    expect(run.completion?.status).toBe('completed');
  });
});

describe('input', () => {
  it.each<[string, Buffer, RegExp]>([
    ['no JSON', Buffer.from('hello\n'), /not JSON/],
    ['no UTF-8', Buffer.from([0xff, 0xfe, 0x0a]), /not UTF-8/],
    ['a line that is too long', Buffer.concat([Buffer.alloc(1 << 20, 'x'), Buffer.from('\n')]), /1048576 bytes/],
    ['an unknown field', Buffer.from(`${JSON.stringify({ ...request, extra: 1 })}\n`), /extra: is not a known field/],
    [
      'a message of an adapter',
      encodeMessage({ ...request, type: 'completion', payload: { status: 'completed', prUrl: null, errors: [] } }),
      /adapters send completion, they do not receive it/,
    ],
  ])('that is %s is refused, and the next line is read', async (_, bytes, reason) => {
    bench.plan([{ does: 'write b x' }]);
    const run = bench.start();
    run.child.stdin!.write(bytes);
    await run.hears(({ type }) => type === 'error', 'the refusal');
    expect(run.errors).toEqual([expect.stringMatching(reason)]);
    expect(run.errors[0]).toMatch(/^INVALID_INPUT /);
    run.ask();
    expect(await run.exited).toBe(0);
  });

  it('may arrive in pieces', async () => {
    bench.plan([{ does: 'write b x' }]);
    const run = bench.start();
    const line = encodeMessage(request);
    for (let at = 0; at < line.length; at += 17) {
      run.child.stdin!.write(line.subarray(at, at + 17));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await run.exited).toBe(0);
  });

  it('that ends without a request, and settings that are wrong, end the adapter', async () => {
    const run = bench.start();
    run.child.stdin!.end(encodeMessage(request).subarray(0, -20));
    expect(await run.exited).toBe(2);
    expect(run.errors.at(-1)).toContain('INVALID_INPUT the input ended');
    const wrong = bench.start({ agent: { kind: 'magic' } as never });
    expect(await wrong.exited).toBe(2);
    expect(wrong.stderr()).toContain('agent.kind: must be');
  });

  it('that brings a key is refused', async () => {
    bench.plan([{ does: '' }]);
    const run = bench.start();
    run.ask({ envVars: { ANTHROPIC_API_KEY: 'sk-123' } });
    expect(await run.exited).toBe(1);
    expect(run.errors).toEqual([expect.stringContaining('INVALID_INPUT payload.envVars.ANTHROPIC_API_KEY')]);
    expect(JSON.stringify(run.messages)).not.toContain('sk-123');
  });
});

describe('an agent that', () => {
  it('floods is read to its end in bounded memory, and reported every two seconds', async () => {
    bench.plan([{ does: `flood 4\nwrite ${file('there')} x\nwait ${file('go')}` }]);
    const run = bench.start();
    run.ask();
    await until(() => existsSync(file('there')), 'the end of the flood', 100_000);
    const peakKb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))?.[1]);
    writeFileSync(file('go'), '');
    expect(await run.exited).toBe(0);
    expect(bench.outcome.stories['US-001']?.output).toContain('end of the flood');
    expect(peakKb).toBeGreaterThan(0);
    expect(peakKb).toBeLessThan(400 * 1024);
  });

  it('says nothing for too long is ended', async () => {
    bench.plan([{ does: `say one\nwait ${file('never')}` }]);
    const run = await bench.complete({ stallSeconds: 1 });
    expect(run.errors).toEqual(['CONTAINER_TIMEOUT US-001: the agent printed nothing for 1 s']);
  });
});

describe('a full disk', () => {
  it('is reported, and a story that cannot be recorded is not completed', async () => {
    bench.plan([{ does: `write ${file('there')} x\nwait ${file('go')}\nwrite b x` }]);
    const tmpfs = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'];
    const mount = `mount -t tmpfs -o size=16k,mode=700 none ${file('data')} && exec "$@"`;
    const run = bench.start({ agent: scriptedAgent }, {}, [...tmpfs, mount, 'sh']);
    run.ask();
    await begun(run);
    // Its checkout exists by then, too.
    await until(() => existsSync(file('there')), 'the agent');
    const inside = `/proc/${run.child.pid}/root${file('data')}/fill`;
    expect(() => writeFileSync(inside, Buffer.alloc(1 << 20))).toThrow('ENOSPC');
    writeFileSync(file('go'), '');
    expect(await run.exited).toBe(1);
    expect(run.completion).toMatchObject({ status: 'failed', errors: [expect.stringContaining('ENOSPC')] });
    expect(run.changes).toEqual(['US-001 in_progress']);
  });
});
