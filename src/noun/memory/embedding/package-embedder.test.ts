import { expect, test } from 'vitest';
import type { ThreadReceiver } from '../../../lib/wire/thread-link.ts';
import { type FromEmbedding, PackageEmbedder, type ToEmbedding } from './package-embedder.ts';

function embedder(folder: string | null = '/packages/embeddings') {
  const sent: ToEmbedding[] = [];
  const receivers: ThreadReceiver<FromEmbedding>[] = [];
  const made = new PackageEmbedder({
    model: 'm',
    folder: () => folder,
    start: (receiver) => {
      receivers.push(receiver);
      return { send: (message) => sent.push(message), end: async () => {} };
    },
  });
  return { made, sent, receivers };
}

test('the thread is started once, gets the texts, and each answer goes to its request', async () => {
  const { made, sent, receivers } = embedder();
  const [one, other] = [made.embed('one'), made.embed('other')];
  expect(receivers).toHaveLength(1);
  expect(sent.map(({ text }) => text)).toEqual(['one', 'other']);
  receivers[0]!.received({ call: sent[1]!.call, values: [2] });
  receivers[0]!.received({ call: sent[0]!.call, values: [1] });
  expect([await one, await other]).toEqual([[1], [2]]);
});

test('a package that is not installed, or fails, makes no vector', async () => {
  await expect(embedder(null).made.embed('x')).rejects.toMatchObject({
    ...{ code: 'unavailable', hint: 'carrel memory install embeddings' },
  });
  const { made, sent, receivers } = embedder();
  const failing = made.embed('x');
  receivers[0]!.received({ call: sent[0]!.call, error: 'no such file' });
  await expect(failing).rejects.toThrow('no such file');
});

test('a thread that ended is started again for the next text', async () => {
  const { made, sent, receivers } = embedder();
  const lost = made.embed('lost');
  receivers[0]!.broken(new Error('out of memory'));
  await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
  const next = made.embed('next');
  expect(receivers).toHaveLength(2);
  receivers[1]!.received({ call: sent[1]!.call, values: [1] });
  expect(await next).toEqual([1]);
});

test('with 50 texts waiting the next one is refused at once', async () => {
  const { made } = embedder();
  const waiting = Array.from({ length: 50 }, () => made.embed('x').catch(() => null));
  await expect(made.embed('one more')).rejects.toThrow('too many');
  await made.close();
  expect(await Promise.all(waiting)).toEqual(new Array(50).fill(null));
});
