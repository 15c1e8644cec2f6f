/** What keeps an installation tidy: bounded logs, many sandboxes at once, the audit log. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gather, Installation, until } from '../harness/installation.ts';

const MiB = 1024 ** 2;
/** Writes up to the line that it is told, again and again; 0 ends it. */
const writer = `mkfifo /tmp/go; exec 3<>/tmp/go; i=0; echo ready
while read n <&3 && [ $n -gt 0 ]; do while [ $i -lt $n ]; do i=$((i+1)); echo "line $i ${'x'.repeat(120)}"; done; done`;
const numbersIn = (text: string) => [...text.matchAll(/^line (\d+)/gm)].map(([, n]) => Number(n));
const isUnbroken = (numbers: readonly number[]) => numbers.every((n, index) => n === numbers[0]! + index);

describe('the output of a sandbox', () => {
  let carrel: Installation;
  beforeAll(() => {
    carrel = new Installation();
    writeFileSync(join(carrel.home, 'config.yaml'), 'logs: {size: 2m, files: 3}\n');
  });
  afterAll(() => carrel.dispose());

  const bytesOf = (id: string) => {
    const folder = join(carrel.home, 'engine/run', id);
    const inodes = new Map(readdirSync(folder).map((name) => [statSync(join(folder, name)).ino, join(folder, name)]));
    return [...inodes.values()].reduce((sum, path) => sum + statSync(path).size, 0);
  };

  it('is bounded however much it is, the newest is there without a gap, and a follower misses nothing', async () => {
    await carrel.ok('create', '--name', 'flood', '--', 'sh', '-c', writer);
    const { id } = await carrel.show('flood');
    const follower = carrel.spawn(['logs', '-f', 'flood']);
    const followed = gather(follower.stdout!);
    const write = (...lines: number[]) =>
      carrel.ok('exec', 'flood', '--', 'sh', '-c', `echo '${lines.join('\n')}' > /tmp/go`);
    await until(() => followed().includes('ready'), 'the writer to be ready');
    for (const lines of [12_000, 24_000, 36_000]) {
      await write(lines);
      await until(() => followed().includes(`line ${lines} `), `the follower to see line ${lines}`);
    }
    const seen = numbersIn(followed());
    expect([seen.length, isUnbroken(seen)]).toEqual([36_000, true]);
    await write(100_000, 0);
    await carrel.ok('wait', 'flood');
    await until(() => follower.exitCode !== null, 'the follower to end');
    expect(numbersIn(followed()).at(-1)).toBe(100_000);
    expect(bytesOf(id)).toBeGreaterThan(4 * MiB);
    expect(bytesOf(id)).toBeLessThan(6.1 * MiB);
    const kept = numbersIn(await carrel.ok('logs', 'flood'));
    expect([kept.at(-1), isUnbroken(kept)]).toEqual([100_000, true]);
    expect(kept.length).toBeGreaterThan(10_000);
    expect(numbersIn(await carrel.ok('logs', '--tail', '3', 'flood'))).toEqual([99_998, 99_999, 100_000]);
  });

  it.each(['output:copied', 'clear:kept'])(
    'of earlier starts stays, also when the daemon is killed at %s',
    async (point) => {
      await carrel.ok('down');
      await carrel.run(['up', '-d'], { env: { CARREL_CRASH_AT: point } });
      const name = point.replace(':', '-');
      const count = 'echo >> /home/agent/starts; echo start $(wc -l < /home/agent/starts)';
      await carrel.script(name, count);
      await carrel.ok('wait', name);
      expect((await carrel.run(['start', name])).exitCode).not.toBe(0);
      const logged = () => carrel.ok('logs', name);
      await until(async () => (await logged()) === 'start 1\nstart 2\n', 'what was begun to be done');
      await carrel.ok('wait', name);
      await carrel.ok('start', name);
      await carrel.ok('wait', name);
      expect(await logged()).toBe('start 1\nstart 2\nstart 3\n');
      expect(await carrel.ok('logs', '--tail', '2', name)).toBe('start 2\nstart 3\n');
    },
  );
});
