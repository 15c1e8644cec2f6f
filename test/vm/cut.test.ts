/** Everything that was asked for and answered, then a power cut. `after-cut` looks at what is left. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { carrelAt, cutPower, grounds, syncAll } from './machine.ts';

/** What an agent wrote is safe once it said so to the kernel, as anywhere else. */
const work = [
  'cd /workspace',
  'echo changed > kept && rm removed && echo new > added && mkdir folder && echo deep > folder/deep',
  'echo home > ~/note && echo data > /.data/note && sync && echo done && exec sleep infinity',
].join(' && ');

it.each(grounds)('$person works until the power goes', async ({ account, folder }) => {
  mkdirSync(folder);
  const project = join(folder, 'project');
  mkdirSync(project);
  for (const name of ['kept', 'removed', 'taken']) writeFileSync(join(project, name), `${name} as it was\n`);
  account?.prepareHome(folder);
  for (const name of ['', 'kept', 'removed', 'taken']) account?.prepareHome(join(project, name));
  syncAll();

  const carrel = carrelAt(join(folder, 'home'), account);
  carrel('create', '--name', 'taker', project, '--', 'sh', '-c', 'echo taken > /workspace/taken; sync; exit 3');
  carrel('wait', 'taker');
  carrel('create', '--name', 'worker', project, '--', 'sh', '-c', work);
  carrel('create', '--name', 'idle', '--', 'sleep', 'infinity');
  let said = '';
  while (!said.includes('done')) said = carrel('logs', 'worker');
  carrel('exec', 'worker', '--', 'sh', '-c', 'echo first > /.data/state; sync');
  // The rest is durable because it was answered, with no sync of ours.
  carrel('snapshot', 'worker', 'first');
  carrel('exec', 'worker', '--', 'sh', '-c', 'echo second > /.data/state; sync');
  carrel('fork', 'worker', 'twin');
  carrel('volume', 'init', 'memory-bank');
  carrel('stop', 'idle');
  carrel('apply', 'taker');
  expect(carrel('diff', '--name-status', 'taker')).toBe('');
});

it('the power goes', () => cutPower());
