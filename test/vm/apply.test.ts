/** Power that goes in the middle of an apply. `after-apply` looks at what is left. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { carrelAt, cutPower, halfway, syncAll } from './machine.ts';

it('the power goes while files are exchanged', async () => {
  const { folder, project, home, names, before, after } = halfway;
  mkdirSync(project, { recursive: true });
  for (const name of names) writeFileSync(join(project, name), before);
  syncAll();
  const carrel = carrelAt(home, null);
  const script = `cd /workspace; for name in *; do printf '${after}' > $name; done; sync`;
  carrel('run', '--name', 'many', project, '--', 'sh', '-c', script);
  spawn(process.execPath, ['/carrel/bin/carrel', '--home', home, 'apply', 'many'], { stdio: 'ignore', cwd: folder });
  const has = (name: string, text: string) => readFileSync(join(project, name), 'utf8') === text;
  const begun = () => names.some((name) => has(name, after));
  while (!begun()) await new Promise((resolve) => setImmediate(resolve));
  console.log(`${names.filter((name) => has(name, after)).length} of ${names.length} were exchanged`);
  cutPower();
});
