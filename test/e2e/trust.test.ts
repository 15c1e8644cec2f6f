/** A sandbox gets only those permissions of a carrel.yaml that the user trusted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gather, Installation, until } from '../harness/installation.ts';

let carrel: Installation;
let project: string;
const declare = (text: string) => writeFileSync(join(project, 'carrel.yaml'), text);
const file = () => join(project, 'carrel.yaml');

beforeAll(() => {
  carrel = new Installation();
  carrel.write('home/config.yaml', 'network: {allow: [usual.example]}\n');
  project = carrel.folder('project');
});
afterAll(() => carrel.dispose());

describe('the network of a project', () => {
  it('is refused with the difference until its file is trusted', async () => {
    declare('network: [usual.example, collector.example]\n');
    const refused = await carrel.run(['run', '.', '--', 'true'], { cwd: project });
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain(
      `${file()} gives sandboxes what was not trusted yet:\n  + network collector.example\n`,
    );
    expect(refused.stderr).toContain(`carrel trust ${file()}`);
    expect(await carrel.list()).toEqual([]);

    const trusted = await carrel.run(['trust'], { cwd: project });
    expect(trusted).toEqual({
      exitCode: 0,
      stdout: '+ network usual.example\n+ network collector.example\n',
      stderr: `trusted ${file()}\n`,
    });
    await carrel.ok('create', '--name', 'ada', project);
    expect((await carrel.show('ada')).network.allow).toEqual(['usual.example', 'collector.example']);
  });

  it('needs trust again when it gives more, but not when it gives less', async () => {
    declare('network: [collector.example, second.example]\n');
    const { exitCode, stderr } = await carrel.run(['create', project]);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('  + network second.example\n')]);
    expect(stderr).not.toContain('+ network collector.example');
    declare('network: [collector.example]\nsandboxes: {other: {limits: {cpus: 1}}}\n');
    await carrel.ok('create', '--name', 'bob', project);
  });

  it('is refused again when the trust was revoked, also of a file that does not exist any more', async () => {
    const other = carrel.folder('revoked');
    const path = join(other, 'carrel.yaml');
    writeFileSync(path, 'network: [collector.example]\n');
    await carrel.ok('trust', other);
    await carrel.ok('create', '--name', 'gus', other);
    expect(await carrel.run(['trust', '--rm'], { cwd: other })).toMatchObject({
      exitCode: 0,
      stderr: `${path} is not trusted any more; sandboxes keep what they have\n`,
    });
    expect((await carrel.show('gus')).network.allow).toEqual(['collector.example']);
    expect((await carrel.run(['create', other])).exitCode).toBe(4);
    await carrel.ok('trust', other);
    rmSync(other, { recursive: true });
    expect(await carrel.json('trust', '--rm', path)).toEqual({ file: path });
    const again = await carrel.run(['trust', '--rm', path]);
    expect([again.exitCode, again.stderr]).toEqual([5, expect.stringContaining('carrel.yaml" is not trusted')]);
    const acts = (await carrel.ok('--json', 'audit'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(acts).toContainEqual(expect.objectContaining({ verb: 'file.untrust', detail: { file: path } }));
  });

  it('needs no trust if the owner gives as much to all', async () => {
    const other = carrel.folder('other');
    writeFileSync(join(other, 'carrel.yaml'), 'network: [usual.example]\n');
    await carrel.ok('create', '--name', 'eve', other);
    writeFileSync(join(other, 'carrel.yaml'), 'network: none\n');
    await carrel.ok('create', '--name', 'dan', other);
    expect((await carrel.show('dan')).network.allow).toEqual([]);
  });

  it('needs no trust if the command line gives the network', async () => {
    declare('network: [third.example]\n');
    await carrel.ok('create', '--name', 'cal', '--network', 'none', project);
  });
});

describe('a fleet', () => {
  const fleet = `name: shop
secrets: [KEY]
volumes: [memory-bank]
projects: {here: ., far: /srv}
sandboxes:
  shop:
    project: here
    mode: bind
    secrets: [KEY]
    volumes: [memory-bank:/data/bank]
`;

  it('is refused with everything that it gives, shown by a dry run, and brought up when it is trusted', async () => {
    await carrel.run(['secret', 'set', 'KEY'], { input: 'a value of a secret' });
    const folder = carrel.folder('fleet');
    const named = join(folder, 'fleet.yaml');
    writeFileSync(named, fleet.replace('here: .', `here: ${carrel.folder('shop')}`));
    const refused = await carrel.run(['up', '--yes', '--file', named]);
    expect(refused.exitCode).toBe(4);
    for (const grant of ['folder /srv', 'shop: secret KEY', 'shop: volume memory-bank:/data/bank', 'shop: writes /']) {
      expect(refused.stderr).toContain(`  + ${grant}`);
    }
    expect((await carrel.list()).map(({ name }) => name)).not.toContain('shop');
    const plan = await carrel.json<{ untrusted: string[] }>('up', '--dry-run', '--file', named);
    expect(plan.untrusted).toContain('shop: secret KEY');
    await carrel.ok('trust', named);
    await carrel.ok('up', '--file', named);
    expect((await carrel.list()).map(({ name }) => name)).toContain('shop');
  });
});

describe('a link in the folder of a fleet', () => {
  it('does not give access to a folder outside before that is trusted', async () => {
    const [folder, outside] = [carrel.folder('linked'), carrel.folder('private')];
    symlinkSync(outside, join(folder, 'inside'));
    writeFileSync(
      join(folder, 'carrel.yaml'),
      'name: linked\nprojects: {a: inside}\nsandboxes: {reader: {project: a}}\n',
    );
    const { exitCode, stderr } = await carrel.run(['up', '--yes'], { cwd: folder });
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`+ folder ${outside}\n`)]);
    expect((await carrel.list()).map(({ name }) => name)).not.toContain('reader');
  });
});

/** Returns what the terminal shows for a command whose question gets this answer. */
async function answering(answer: string, ...args: string[]): Promise<string> {
  const words = [process.execPath, resolve('bin/carrel'), ...args].map((word) => `'${word}'`).join(' ');
  const env = { ...process.env, HOME: carrel.home, CARREL_HOME: carrel.home };
  const child = spawn('script', ['-qec', words, '/dev/null'], { env });
  const seen = gather(child.stdout);
  const ended = once(child, 'close');
  await until(() => seen().includes('[y/N]'), 'a question');
  child.stdin.write(answer);
  await ended;
  return seen();
}

describe('at a terminal', () => {
  it('the answer no changes nothing, and the answer yes trusts the file and continues', async () => {
    declare('network: [fourth.example]\n');
    expect(await answering('n\n', 'create', '--name', 'fay', project)).toContain('+ network fourth.example');
    expect((await carrel.list()).map(({ name }) => name)).not.toContain('fay');
    await answering('y\n', 'create', '--name', 'fay', project);
    expect((await carrel.show('fay')).network.allow).toEqual(['fourth.example']);
  });
});
