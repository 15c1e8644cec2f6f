import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { WholeWriter } from './whole-writer.ts';

it('WholeWriter writes a message and its header in one write, with the length in bytes', async () => {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      written.push(chunk.toString());
      done();
    },
  });
  const message = { jsonrpc: '2.0', method: 'ü' };
  await new WholeWriter(stream).write(message);
  expect(written).toEqual(['Content-Length: 31\r\n\r\n{"jsonrpc":"2.0","method":"ü"}']);
});

it('WholeWriter rejects and reports an error when the server has closed its input', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const writer = new WholeWriter(stream);
  const reported = new Promise<string>((resolve) => writer.onError(([error]) => resolve(error.message)));
  await expect(writer.write({ jsonrpc: '2.0' })).rejects.toThrow('EPIPE');
  expect(await reported).toBe('EPIPE');
});
