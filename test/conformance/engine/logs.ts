import { describe, expect } from 'vitest';
import { flooded } from './setup.ts';
import { type Case, text } from './trial.ts';
import { expectBytes, within } from './wait.ts';

const numbered = Array.from({ length: 100 }, (_, n) => `line ${n}\n`);

export function logging(it: Case): void {
  describe('logs', () => {
    it('hold every line in order, each with its newline and time', async ({ t }) => {
      const made = await t.start(t.commands.print(numbered.join('')));
      await t.exit(made);
      const lines = await t.logs(made.id);
      expect(lines.map(({ bytes }) => bytes.toString())).toEqual(numbered);
      for (const { at } of lines) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
    });

    it('tell the streams apart', async ({ t }) => {
      const made = await t.start(t.commands.printBoth('one\ntwo\n', 'three\n'));
      await t.exit(made);
      const lines = await t.logs(made.id);
      expect(text(lines, 'stdout')).toBe('one\ntwo\n');
      expect(text(lines, 'stderr')).toBe('three\n');
    });

    it('keep a last line that was left unfinished as it is', async ({ t }) => {
      const made = await t.start(t.commands.print('finished\nunfinished'));
      await t.exit(made);
      expect((await t.logs(made.id)).map(({ bytes }) => bytes.toString())).toEqual(['finished\n', 'unfinished']);
    });

    it('keep much output without a client attached', async ({ t }) => {
      const made = await t.start(t.commands.flood(512 * 1024));
      await t.exit(made);
      expectBytes(Buffer.from(text(await t.logs(made.id))), flooded(512 * 1024));
    });

    it('contain only the last lines on request', async ({ t }) => {
      const made = await t.start(t.commands.print(`${numbered.join('')}unfinished`));
      await t.exit(made);
      expect(text(await t.logs(made.id, 3))).toBe('line 98\nline 99\nunfinished');
      expect(text(await t.logs(made.id, 0))).toBe('');
      expect(text(await t.logs(made.id, 1000))).toBe(`${numbered.join('')}unfinished`);
    });

    it('followed, end with the sandbox', async ({ t }) => {
      const made = await t.ready(t.commands.exitOnTerm(0));
      const followed = t.follow(made.id);
      await followed.has('ready\n');
      await t.engine.stop(made.id, made.handle, 10_000);
      await within('the log to end', followed.done);
      expect(followed.text).toBe('ready\n');
    });

    it('followed after the end, end at once with everything', async ({ t }) => {
      const made = await t.start(t.commands.print(numbered.join('')));
      await t.exit(made);
      const followed = t.follow(made.id);
      await within('the log to end', followed.done);
      expect(followed.text).toBe(numbered.join(''));
    });

    it('followed, contain what is written later', async ({ t }) => {
      const made = await t.start(t.commands.copyStdin, { stdin: true });
      const console = await t.engine.attach(made.id, made.handle);
      console.stdout.resume();
      console.stderr.resume();
      console.stdin.write('first\nsecond\n');
      const whole = t.follow(made.id);
      await whole.has('second\n');
      const last = t.follow(made.id, { tail: 1 });
      await last.has('second\n');
      for (const line of ['third\n', 'fourth\n']) {
        console.stdin.write(line);
        await Promise.all([whole.has(line), last.has(line)]);
      }
      console.detach();
      await t.engine.stop(made.id, made.handle, 0);
      await within('the logs to end', Promise.all([whole.done, last.done]));
      expect(whole.text).toBe('first\nsecond\nthird\nfourth\n');
      expect(last.text).toBe('second\nthird\nfourth\n');
    });

    it('followed while they grow, miss nothing', async ({ t }) => {
      const made = await t.start(t.commands.flood(256 * 1024));
      const followed = t.follow(made.id);
      await t.exit(made);
      await within('the log to end', followed.done);
      expectBytes(Buffer.from(followed.text), flooded(256 * 1024));
    });

    it('followed, end when they are cancelled', async ({ t }) => {
      const made = await t.ready(t.commands.wait);
      const controller = new AbortController();
      const followed = t.follow(made.id, { signal: controller.signal });
      await followed.has('ready\n');
      controller.abort();
      await within('the log to end', followed.done);
      expect(await t.kind(made)).toBe('running');
    });

    it('followed, end when the sandbox is removed', async ({ t }) => {
      const made = await t.ready(t.commands.wait);
      const followed = t.follow(made.id);
      await followed.has('ready\n');
      await t.engine.remove(made.id, made.handle);
      await within('the log to end', followed.done);
    });
  });
}
