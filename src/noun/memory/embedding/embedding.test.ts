import { expect, test } from 'vitest';
import { EndpointEmbedder } from './embedding.ts';

function embedder(answer: () => Response) {
  const requests: { url: string; init: RequestInit }[] = [];
  let nowMs = 0;
  const made = new EndpointEmbedder({
    ...{ url: 'https://models.example/v1/', model: 'm', headers: () => ({ authorization: 'Bearer key' }) },
    fetch: async (url, init) => {
      requests.push({ url: String(url), init: init! });
      return answer();
    },
    nowMs: () => nowMs,
  });
  return { made, requests, pass: (ms: number) => (nowMs += ms) };
}

test('a text is sent with the key, and the vector of the answer returned', async () => {
  const { made, requests } = embedder(() => Response.json({ data: [{ embedding: [0.5, -1] }] }));
  expect(await made.embed('hello')).toEqual([0.5, -1]);
  expect(requests[0]?.url).toBe('https://models.example/v1/embeddings');
  expect(requests[0]?.init.headers).toMatchObject({ authorization: 'Bearer key' });
  expect(JSON.parse(requests[0]?.init.body as string)).toEqual({
    model: 'm',
    input: 'hello',
    encoding_format: 'float',
  });
  expect(requests[0]?.init.redirect).toBe('error');
});

test.each([
  ['a status', () => new Response('no', { status: 500 })],
  ['no JSON', () => new Response('no')],
  ['no vector', () => Response.json({ data: [] })],
  ['a vector of texts', () => Response.json({ data: [{ embedding: ['1'] }] })],
])('an answer with %s is a failure, and no request is sent for 30 seconds', async (_, answer) => {
  const { made, requests, pass } = embedder(answer);
  await expect(made.embed('x')).rejects.toMatchObject({ code: 'unavailable' });
  pass(29_999);
  await expect(made.embed('x')).rejects.toMatchObject({ code: 'unavailable' });
  expect(requests).toHaveLength(1);
  pass(1);
  await expect(made.embed('x')).rejects.toThrow('made no vector');
  expect(requests).toHaveLength(2);
});
