/** What every engine that has images promises, sentence by sentence of `src/noun/image/image.ts`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFault } from '../../src/model/fault.ts';
import { header, padding } from '../../src/noun/image/context/tar.ts';
import type { BuildMessage, BuildOrder, ImageEngine } from '../../src/noun/image/image.ts';

export interface ImageSetup {
  readonly engine: ImageEngine;
  /** The id of an image that can be built on. */
  readonly parent: string;
  /** A RUN that prints a line, one that ends with a code, and one that does not end. */
  readonly commands: { echo(text: string): string; exit(code: number): string; readonly hang: string };
  /** The number of containers that builds left running. */
  readonly running: () => Promise<number>;
  readonly cleanup: () => Promise<void>;
}

const limits = { cpus: 1, memoryBytes: 256 * 1024 ** 2, swapBytes: 256 * 1024 ** 2 };

export function imageConformance(name: string, setup: () => Promise<ImageSetup>): void {
  describe(`${name} keeps the contract of an engine of images`, () => {
    let made: ImageSetup;
    beforeAll(async () => {
      made = await setup();
    });
    afterAll(() => made.cleanup());

    const order = (tag: string, lines: readonly string[]): BuildOrder => ({
      archive: archive([`FROM ${made.parent}`, ...lines]),
      dockerfile: 'plan',
      tag,
      network: false,
      limits,
    });
    const build = (tag: string, lines: readonly string[], signal = new AbortController().signal) =>
      all(made.engine.build(order(tag, lines), signal));

    test('find returns null for an unknown image, and remove ignores it', async () => {
      expect(await made.engine.find('carrel-nowhere:1')).toBeNull();
      await made.engine.remove(`sha256:${'0'.repeat(64)}`);
    });

    test('a build reports its steps and their output, and its image has the name and the labels', async () => {
      const messages = await build('carrel-made:1', [made.commands.echo('printed'), 'LABEL carrel.test=yes']);
      const text = messages.map((message) => (message.kind === 'output' ? message.text : '')).join('');
      expect(text).toMatch(/^Step 1\/3 : FROM [\s\S]*^Step 2\/3 : RUN [\s\S]*^printed$[\s\S]*^Step 3\/3 : LABEL /m);
      const { id } = messages.findLast((message) => message.kind === 'image')!;
      expect(await made.engine.find('carrel-made:1')).toMatchObject({ id, labels: { 'carrel.test': 'yes' } });
      expect((await made.engine.labelled('carrel.test=yes')).map((image) => image.id)).toEqual([id]);
      await expect(made.engine.remove(made.parent)).rejects.toSatisfy((error) => isFault(error, 'conflict'));
      await made.engine.remove(id);
      expect(await made.engine.find(id)).toBeNull();
      expect(await made.engine.find(made.parent)).not.toBeNull();
    });

    test('a step that fails ends the build with its code', async () => {
      const messages = await build('carrel-failed:1', [made.commands.echo('before'), made.commands.exit(3)]);
      expect(messages.at(-1)).toMatchObject({ kind: 'failure', exitCode: 3 });
      expect(await made.engine.find('carrel-failed:1')).toBeNull();
    });

    test('an aborted signal ends the build and everything that it started', async () => {
      const abort = new AbortController();
      const messages = made.engine.build(order('carrel-hung:1', [made.commands.hang]), abort.signal);
      const outcome = (async () => {
        for await (const message of messages)
          if (message.kind === 'output' && message.text.startsWith('Step 2/')) abort.abort();
      })();
      await expect(outcome).rejects.toSatisfy((error) => isFault(error, 'cancelled'));
      await expect.poll(made.running, { timeout: 30_000 }).toBe(0);
      expect(await made.engine.find('carrel-hung:1')).toBeNull();
    });

    test('a root filesystem becomes an image with a name and labels', async () => {
      const order = {
        archive: archive(['a file']),
        tag: 'carrel-imported:1',
        labels: { 'carrel.a': 'b', 'carrel.c': 'd' },
      };
      await all(made.engine.import(order, new AbortController().signal));
      const found = await made.engine.find('carrel-imported:1');
      expect(found?.labels).toEqual({ 'carrel.a': 'b', 'carrel.c': 'd' });
      await made.engine.remove(found!.id);
    });

    test('an archive that breaks off fails the build and makes no image', async () => {
      const broken = async function* () {
        yield* header({ name: Buffer.from('plan'), kind: 'file', mode: 0o644, sizeBytes: 9, target: Buffer.alloc(0) });
        throw new Error('it changed');
      };
      const whole = order('carrel-broken:1', []);
      const outcome = all(made.engine.build({ ...whole, archive: broken() }, new AbortController().signal));
      await expect(outcome).rejects.toThrow();
      expect(await made.engine.find('carrel-broken:1')).toBeNull();
    });

    test('pull from a registry that does not answer is a Fault', async () => {
      const outcome = all(made.engine.pull('localhost:1/carrel-nowhere:1', new AbortController().signal));
      await expect(outcome).rejects.toSatisfy((error) => isFault(error));
    });
  });
}

async function all(messages: AsyncIterable<BuildMessage>): Promise<BuildMessage[]> {
  const found: BuildMessage[] = [];
  for await (const message of messages) found.push(message);
  return found;
}

async function* archive(lines: readonly string[]): AsyncGenerator<Buffer> {
  const content = Buffer.from(`${lines.join('\n')}\n`);
  const target = Buffer.alloc(0);
  yield* header({ name: Buffer.from('plan'), kind: 'file', mode: 0o644, sizeBytes: content.length, target });
  yield content;
  yield padding(content.length, 2);
}
