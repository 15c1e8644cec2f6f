// @needs root
/** Names, labels, commands and output that try to deceive their reader. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { attacker, everyWay, type Testbed } from '../fixtures/attacks/testbed.ts';

/** Sets the title, clears the screen, moves the cursor up, hides text, turns it around, and imitates another line. */
const hostile = '\u001b]0;owned\u0007\u001b[2J\u001b[1A\u009b8m\u202egpj.exe\u2066\r\nfake-sandbox  running';

/** Characters other than text and line ends. */
const terminalCodes = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

everyWay('output', (testbed) => {
  hostileNames(testbed);
  hostileSandbox(testbed);
});

function hostileNames(testbed: () => Testbed): void {
  describe('a hostile name', () => {
    const names = ['\u001b[31mred', 'two\nlines', '\u202eabc', '../up', '-x', '', 'x'.repeat(64), 'a\u0085'];

    it.each(names)('%j is refused and shown without control characters', async (name) => {
      const { exitCode, stdout, stderr } = await testbed().carrel.run(['create', `--name=${name}`, '--', 'true']);
      expect(exitCode).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).not.toMatch(terminalCodes);
    });

    it.each([
      ['show', (name: string) => ['show', '--', name]],
      ['exec', (name: string) => ['exec', name, '--', 'true']],
      ['rm', (name: string) => ['rm', '--force', '--', name]],
      ['logs', (name: string) => ['logs', '--', name]],
      ['cp', (name: string) => ['cp', `${name}:/etc/passwd`, '/nonexistent']],
    ])('is refused by %s', async (_, args) => {
      const { exitCode, stderr } = await testbed().carrel.run(args('\u001b[31mred\nline'));
      expect(exitCode).toBe(2);
      expect(stderr).not.toMatch(terminalCodes);
    });

    it('makes no sandbox', async () => {
      const all = await testbed().carrel.json<{ name: string }[]>('ls');
      expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining([attacker]));
      expect(all.filter(({ name }) => !/^[a-z0-9][a-z0-9_.-]{0,62}$/.test(name))).toEqual([]);
    });
  });
}

function hostileSandbox(testbed: () => Testbed): void {
  describe('a sandbox with hostile labels, variables, project and command', () => {
    const line = `${hostile}\n`;
    const name = 'hostile';

    beforeAll(async () => {
      const { carrel } = testbed();
      const project = carrel.folder(`project ${hostile.replaceAll('/', '')}`);
      const options = ['--name', name, '--label', `note=${hostile}`, '--env', `NOTE=${hostile}`];
      const script = `printf %s "$1"; printf %s "$1" >&2; exit 3 # ${hostile}`;
      await carrel.ok('create', ...options, project, '--', 'sh', '-c', script, 'sh', line);
      await carrel.ok('wait', name);
      await carrel.run(['create', '--name', 'missing', '--', `/no/such/${hostile}`]);
    });

    it.each([['ls'], ['show', name], ['show', 'missing'], ['events'], ['stats'], ['status']])(
      'is printed without control characters by %s',
      async (...args) => {
        const stdout = await testbed().carrel.ok(...args);
        expect(stdout).not.toMatch(terminalCodes);
      },
    );

    it('has one line in a listing, whatever its fields contain', async () => {
      const lines = (await testbed().carrel.ok('ls')).trimEnd().split('\n');
      const all = await testbed().carrel.json<unknown[]>('ls');
      expect(lines).toHaveLength(all.length + 1);
      expect(lines.filter((text) => text.startsWith('fake-sandbox'))).toEqual([]);
    });

    it('shows its label and command, escaped', async () => {
      const shown = await testbed().carrel.ok('show', name);
      expect(shown).toContain('note=\\u001b]0;owned\\u0007');
      expect(shown).toContain('\\u202egpj.exe');
    });

    it.each([['ls'], ['show', name], ['events']])('is one document in the JSON of %s', async (...args) => {
      const stdout = await testbed().carrel.ok('--json', ...args);
      const documents = args[0] === 'events' ? stdout.trimEnd().split('\n') : [stdout];
      expect(documents.map((text) => typeof JSON.parse(text))).toEqual(documents.map(() => 'object'));
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    });

    it('has its output in the log as it wrote it, byte for byte', async () => {
      const { stdout, stderr } = await testbed().carrel.run(['logs', name]);
      expect([stdout, stderr]).toEqual([line, line]);
    });

    it('keeps its variable and label unchanged', async () => {
      const { carrel } = testbed();
      const view = await carrel.json<{ labels: Record<string, string> }>('show', name);
      expect(view.labels.note).toBe(hostile);
      const seen = await carrel.ok('run', '--rm', '--env', `NOTE=${hostile}`, '--', 'printenv', 'NOTE');
      expect(seen).toBe(line);
    });

    it('writes no terminal codes to the log of the daemon', () => {
      const log = readFileSync(`${testbed().carrel.home}/daemon.log`, 'utf8');
      expect(log).not.toMatch(terminalCodes);
    });
  });
}
