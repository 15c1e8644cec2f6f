// @needs root
// @takes 30 s
/** `cp` between the host and a sandbox that plants links, sends archives of its own making, and swaps folders. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attacker, everyWay, type Testbed } from '../fixtures/attacks/testbed.ts';

/**
 * Archives that the sandbox sends instead of the file. Each must be refused, with nothing copied and nothing touched.
 */
const refusedTricks = ['climb', 'absolute', 'through', 'hardlink', 'symlink', 'device', 'another'];

const terminalCodes = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

everyWay('copying', (testbed) => {
  let target: string;
  let round = 0;
  beforeEach(() => {
    target = testbed().carrel.folder(`target-${++round}`);
  });

  plantedLinks(testbed, () => target);
  hostileArchives(testbed, () => target);
  swappedFolders(testbed);
});

function plantedLinks(testbed: () => Testbed, target: () => string): void {
  describe('links that the sandbox made', () => {
    beforeAll(async () => {
      const { canary, folder } = testbed();
      const script = [
        'cd ~; ln -s "$1" file; ln -s "$2" folder; ln -s /etc/passwd passwd; ln -s /etc/shadow shadow',
        'mkdir tree; ln -s "$1" tree/file; ln -s "$2" tree/folder; echo own > tree/own',
      ].join('; ');
      await inside(testbed(), 'sh', '-c', script, 'sh', canary, folder);
    });

    it.each(['file', 'folder', 'shadow'])('lead to no %s of the host', async (name) => {
      const { exitCode, stderr } = await testbed().carrel.run(['cp', `${attacker}:${name}`, target()]);
      expect(stderr).toContain('does not exist');
      expect(exitCode).toBe(5);
      expect(readdirSync(target())).toEqual([]);
    });

    it("lead to the sandbox's own file, if it has one", async () => {
      await testbed().carrel.ok('cp', `${attacker}:passwd`, target());
      const copied = readFileSync(join(target(), 'passwd'), 'utf8');
      expect(copied).toContain('/home/agent');
      expect(copied).not.toBe(readFileSync('/etc/passwd', 'utf8'));
    });

    it('stay links in a folder that is copied', async () => {
      const { carrel, canary, folder } = testbed();
      await carrel.ok('cp', `${attacker}:tree`, target());
      expect(readlinkSync(join(target(), 'tree/file'))).toBe(canary);
      expect(readlinkSync(join(target(), 'tree/folder'))).toBe(folder);
      expect(readFileSync(join(target(), 'tree/own'), 'utf8')).toBe('own\n');
    });

    it('lead no copy into the sandbox to a place outside of it', async () => {
      const { carrel, folder } = testbed();
      writeFileSync(join(target(), 'planted'), 'planted');
      const { exitCode } = await carrel.run(['cp', join(target(), 'planted'), `${attacker}:folder/planted`]);
      expect(exitCode).not.toBe(0);
      expect(existsSync(join(folder, 'planted'))).toBe(false);
    });
  });
}

function hostileArchives(testbed: () => Testbed, target: () => string): void {
  describe('a hostile archive from the sandbox', () => {
    let host: string;
    beforeAll(async () => {
      host = testbed().carrel.folder('host');
      writeFileSync(join(host, 'secret'), 'secret');
      const tar = readFileSync('test/fixtures/attacks/fake-tar.py', 'utf8').replace('HOST', JSON.stringify(host));
      // The runtime looks for the program before it becomes agent, so the home must be open to it.
      const install =
        'chmod 755 ~; mkdir -p ~/.local/bin; echo > ~/wanted; printf %s "$1" > ~/.local/bin/tar; chmod 755 ~/.local/bin/tar';
      await inside(testbed(), 'sh', '-c', install, 'sh', tar);
    });

    const copyWith = async (trick: string) => {
      await inside(testbed(), 'sh', '-c', 'printf %s "$1" > /tmp/trick', 'sh', trick);
      return testbed().carrel.run(['cp', `${attacker}:wanted`, target()]);
    };
    const expectUntouched = () => {
      expect(readdirSync(host)).toEqual(['secret']);
      expect(statSync(join(host, 'secret')).nlink).toBe(1);
    };

    it.each(refusedTricks)('is refused: %s', async (trick) => {
      const { exitCode } = await copyWith(trick);
      expect(exitCode).not.toBe(0);
      expect(readdirSync(target())).toEqual([]);
      expectUntouched();
    });

    it('writes nothing through a link that it contains', async () => {
      await copyWith('swapped');
      expectUntouched();
    });

    it('makes no set-user-id program', async () => {
      expect(await copyWith('setuid')).toMatchObject({ exitCode: 0 });
      expect(lstatSync(join(target(), 'wanted')).mode & 0o7000).toBe(0);
    });

    it('puts no terminal code into the error message', async () => {
      const { exitCode, stderr } = await copyWith('complain');
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain('owned');
      expect(stderr).not.toMatch(terminalCodes);
    });
  });
}

/** A bound project of another sandbox, which swaps a folder and a link to the outside in turn. */
function swappedFolders(testbed: () => Testbed): void {
  describe('a folder that is swapped for a link meanwhile', () => {
    const rounds = 5;
    let project: string;
    let outside: string;

    beforeAll(async () => {
      const { carrel, token } = testbed();
      project = carrel.folder('project');
      outside = carrel.folder('outside');
      writeFileSync(join(outside, 'secret'), token, { mode: 0o644 });
      const swap = `
        mkdir real; ln -s "$1" link; echo own > real/secret
        while :; do mv -T real shared; mv -T shared real; mv -T link shared; mv -T shared link; done`;
      await carrel.ok('create', '--mode', 'bind', '--name', 'swapper', project, '--', 'sh', '-c', swap, 'sh', outside);
    });

    it('does not lead a copy out of the project', async () => {
      const { carrel } = testbed();
      await inside(testbed(), 'sh', '-c', 'rm -rf ~/.local; echo planted > ~/planted');
      for (let round = 0; round < rounds; round += 1) {
        await carrel.run(['cp', `${attacker}:planted`, join(project, 'shared/planted')]);
      }
      expect(readdirSync(outside)).toEqual(['secret']);
    });

    it('does not give a copy of files outside of the project', async () => {
      const { carrel, token } = testbed();
      for (let round = 0; round < rounds; round += 1) {
        await carrel.run(['cp', join(project, 'shared'), `${attacker}:/tmp/got-${round}`]);
        await carrel.run(['cp', join(project, 'shared/secret'), `${attacker}:/tmp/got-file-${round}`]);
      }
      const { stdout } = await carrel.run(['exec', attacker, '--', 'sh', '-c', 'cat /tmp/got-*/* /tmp/got-file-*']);
      expect(stdout).not.toContain(token);
    });
  });
}

async function inside({ carrel }: Testbed, ...command: string[]): Promise<string> {
  return carrel.ok('exec', attacker, '--', ...command);
}
