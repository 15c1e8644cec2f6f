/**
 * All kinds of work are done and acknowledged, then a power cut comes in the middle of an apply. `after-cut` checks the
 * result.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { carrelAt, cutPower, halfway, syncAll, testbeds } from './machine.ts';

/**
 * Works only once, so that a file that is there later was not written anew. The agent makes its own work durable by
 * sync.
 */
const work = `
if [ ! -e /.data/note ]; then
  cd /workspace
  echo changed > kept; rm removed; echo new > added; mkdir folder; echo deep > folder/deep
  echo home > ~/note; echo data > /.data/note
  sync
fi
echo done
exec sleep infinity`;

it('an agent changes many files', async () => {
  const { project, home, names, before, after } = halfway;
  mkdirSync(project, { recursive: true });
  for (const name of names) writeFileSync(join(project, name), before);
  syncAll();
  const script = `cd /workspace; for name in *; do printf '${after}' > $name; done; sync`;
  const carrel = await carrelAt(home, null);
  carrel('run', '--name', 'many', project, '--', 'sh', '-c', script);
});

it.each(testbeds)('$person works until the power goes', async ({ account, folder }) => {
  mkdirSync(folder);
  const project = join(folder, 'project');
  mkdirSync(project);
  for (const name of ['kept', 'removed', 'taken']) writeFileSync(join(project, name), `${name} as it was\n`);
  account?.prepareHome(folder);
  for (const name of ['', 'kept', 'removed', 'taken']) account?.prepareHome(join(project, name));
  syncAll();

  const carrel = await carrelAt(join(folder, 'home'), account);
  carrel('create', '--name', 'taker', project, '--', 'sh', '-c', 'echo taken > /workspace/taken; sync; exit 3');
  carrel('wait', 'taker');
  carrel('create', '--name', 'worker', project, '--', 'sh', '-c', work);
  let said = '';
  while (!said.includes('done')) said = carrel('logs', 'worker');
  carrel('exec', 'worker', '--', 'sh', '-c', 'echo first > /.data/state; sync');
  // The rest is durable because the daemon acknowledged it: the test itself does not sync.
  carrel('snapshot', 'worker', 'first');
  carrel('exec', 'worker', '--', 'sh', '-c', 'echo second > /.data/state; sync');
  carrel('fork', 'worker', 'twin');
  carrel('volume', 'init');
  carrel('apply', 'taker');
});

it('the power goes while these changes are applied', async () => {
  const { project, home, names, after } = halfway;
  spawn(process.execPath, ['/carrel/bin/carrel', '--home', home, 'apply', 'many'], { stdio: 'ignore' });
  const applied = () => names.filter((name) => readFileSync(join(project, name), 'utf8') === after).length;
  while (applied() === 0) await new Promise((resolve) => setImmediate(resolve));
  writeSync(2, `${applied()} of ${names.length} are there\n`);
  cutPower();
});
