// @needs root
// @takes 85 s
/** The npm package as an ordinary user installs it: into an empty prefix, without a checkout. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

let account: RootlessAccount;
let carrel: Installation;

beforeAll(() => {
  account = createRootlessAccount();
  carrel = new Installation(account);
});
afterAll(async () => {
  await carrel.dispose();
  account.dispose();
});

it('an installed package runs the demo for an ordinary user', async () => {
  const prefix = carrel.folder('prefix');
  const archive = pack();
  const npm = ['npm', 'install', '--global', '--prefix', prefix, '--loglevel=error', archive];
  ran(account.wrap(npm), { ...npmEnv(), npm_config_better_sqlite3_local_prebuilds: prebuilt() });
  carrel.program = join(prefix, 'bin/carrel');
  const { exitCode, stdout, stderr } = await carrel.run(['demo', join(carrel.folder('demo'), 'project')]);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^✔ characters are what people see/m);
  expect(stdout).not.toMatch(/^✖/m);
});

function pack(): string {
  const folder = carrel.folder('packed');
  const [{ filename }] = JSON.parse(ran(['npm', 'pack', '--json', '--pack-destination', folder]));
  return join(folder, filename);
}

/**
 * The addon that this checkout compiled, as the archive that npm downloads for most users: compiling takes a minute.
 */
function prebuilt(): string {
  const folder = carrel.folder('prebuilt');
  const { name, version } = JSON.parse(readFileSync('node_modules/better-sqlite3/package.json', 'utf8'));
  const file = `${name}-v${version}-node-v${process.versions.modules}-linux-${process.arch}.tar.gz`;
  const member = 'build/Release/better_sqlite3.node';
  // The account itself makes the archive: one that it cannot write is ignored.
  ran(account.wrap(['tar', '-czf', join(folder, file), '-C', 'node_modules/better-sqlite3', member]));
  return folder;
}

/** The registry settings of this machine, without the npm settings of the account that runs the tests. */
function npmEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const [registry, cafile] = ['registry', 'cafile'].map((key) => ran(['npm', 'config', 'get', key]).trim());
  const trusted = cafile === 'null' ? {} : { npm_config_cafile: cafile };
  return { ...Object.fromEntries(own), HOME: carrel.home, npm_config_registry: registry, ...trusted };
}

function ran(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr } = spawnSync(argv[0]!, argv.slice(1), { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
}
