/**
 * Work of one user does not keep the daemon from answering others: at most 50 ms pass without an answer. Beside other test files
 * the measure varies by more than that, so there only a stall of many times the promise fails.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { isRealRoot, isRepeated } from '../harness/machine.ts';
import { SmallDisk } from '../harness/small-disk.ts';
import { type Stall, stallDuring } from '../harness/stall.ts';

const promisedMs = isRepeated ? 50 : 300;
/** A busy machine makes all work take longer: what small work takes there counts so many times. */
const tolerance = 3;
const changes = isRepeated ? 100_000 : 10_000;
const name = 'huge';

let carrel: Installation;

/** While a sandbox is made and removed. */
async function smallStall(): Promise<number> {
  const small = async () => {
    await carrel.ok('create', '--name', 'small');
    await carrel.ok('rm', '--force', 'small');
  };
  return (await stallDuring(carrel, small)).longestMs;
}

async function expectNone({ longestMs, asked }: Stall): Promise<void> {
  expect(asked).toBeGreaterThan(25);
  if (longestMs > promisedMs) expect(longestMs).toBeLessThan(promisedMs + tolerance * (await smallStall()));
}

describe(`${changes} changes`, () => {
  beforeAll(async () => {
    carrel = new Installation();
    const project = carrel.folder('project');
    await carrel.ok('create', '--name', name, project);
    await carrel.ok('exec', name, '--', 'sh', '-c', `mkdir d && cd d && seq ${changes} | split -l 1 -a 5`);
  }, 300_000);
  afterAll(() => carrel.dispose());

  const path = { name };
  it.each([
    ['reviewed', () => carrel.client.call('POST /v1/sandboxes/{name}/changes', { path, body: {} })],
    ['shown', () => carrel.run(['diff', name])],
    ['applied', () => carrel.client.call('POST /v1/apply', { body: { names: [name] } })],
    ['taken back', () => carrel.client.call('POST /v1/sandboxes/{name}/undo', { path })],
    ['discarded', () => discard()],
    ['restored', () => carrel.ok('restore', name, 'before discard')],
    ['removed', () => carrel.ok('rm', '--force', name)],
  ] as const)('%s', { timeout: 300_000 }, async (_, work) => {
    await expectNone(await stallDuring(carrel, work));
  });

  async function discard(): Promise<void> {
    await carrel.ok('stop', '--grace', '0', name);
    const { paths } = await carrel.client.call('POST /v1/sandboxes/{name}/discard', { path, body: {} });
    expect(paths.length).toBeGreaterThanOrEqual(changes);
  }
});

describe.runIf(isRealRoot)('a disk that is filled', () => {
  it('and freed again does not stall the daemon', async () => {
    const disk = new SmallDisk(64);
    carrel = new Installation(null, null, disk.place);
    try {
      carrel.write('home/config.yaml', 'disk: {keepFree: 0}\n');
      await carrel.ok('create', '--name', 'eater', carrel.folder('project'));
      const filling = ['create', '--name', 'filling', '--', 'sh', '-c', 'cd; while :; do cat /dev/zero >> full; done'];
      const stall = await stallDuring(carrel, async () => {
        await carrel.ok(...filling);
        await disk.isFull('bytes');
        await carrel.run(['create', '--name', 'refused']);
        await carrel.ok('rm', '--force', 'filling');
        await carrel.ok('create', '--name', 'more');
      });
      await expectNone(stall);
    } finally {
      await carrel.dispose();
      disk.dispose();
    }
  });
});
