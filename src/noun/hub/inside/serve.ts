/** The methods of a spoke, in lines of JSON. */
import type { Readable, Writable } from 'node:stream';
import { OutputLimit } from '../../../lib/process/output-limit.ts';
import { Lines } from '../../../lib/wire/lines.ts';
import { asFault } from '../../../model/fault.ts';
import { maxRequestBytes, type SpokeRequest } from '../model/spoke.ts';
import { codeMethods, serversOf } from './code/code.ts';
import { codeEditMethods } from './code/edit.ts';
import { runCommand } from './command/command.ts';
import { abortEdit } from './edit/abort.ts';
import { applyEdit } from './edit/apply.ts';
import { finishEdit, prepareEdit } from './edit/edit.ts';
import { readFile, removeFile, renameFile, writeFile } from './file/file.ts';
import { listFiles } from './file/list.ts';
import { searchText } from './file/search.ts';
import type { Methods } from './inside.ts';
import type { LanguageServers } from './lsp/lsp.ts';

const methods: Methods = {
  'spoke/ping': () => ({}),
  'file/read': readFile,
  'file/write': writeFile,
  'file/remove': removeFile,
  'file/rename': renameFile,
  'file/list': listFiles,
  'text/search': (root, request, { signal }) => searchText(root, request, signal),
  'command/run': (root, request, { signal, output }) => runCommand(root, request, output, signal),
  'edit/prepare': prepareEdit,
  'edit/apply': applyEdit,
  'edit/abort': abortEdit,
  'edit/finish': finishEdit,
  ...codeMethods,
  ...codeEditMethods,
};

/** Resolves when the input has ended. Commands that still run are cancelled, because their output has no reader. */
export async function serve(root: string, input: Readable, output: Writable): Promise<void> {
  const calls = new Map<number, AbortController>();
  const servers = serversOf(root);
  const lines = new Lines(maxRequestBytes);
  const send = (message: object) => void output.write(`${JSON.stringify(message)}\n`);
  for await (const chunk of input) {
    for (const line of lines.push(chunk as Buffer)) {
      const request = JSON.parse(line) as SpokeRequest;
      if ('cancel' in request) calls.get(request.cancel)?.abort();
      else void answer(root, request, { calls, servers, send });
    }
  }
  for (const call of calls.values()) call.abort();
  await servers.dispose();
}

interface Connection {
  readonly calls: Map<number, AbortController>;
  readonly servers: LanguageServers;
  send(message: object): void;
}

async function answer(
  root: string,
  { id, method, asked: request }: Exclude<SpokeRequest, { readonly cancel: number }>,
  { calls, servers, send }: Connection,
): Promise<void> {
  const abort = new AbortController();
  calls.set(id, abort);
  try {
    const limit = new OutputLimit();
    const output = (text: string) => {
      // A process that the command left behind may still write when the call is answered.
      const shown = calls.has(id) ? limit.take(text) : null;
      if (shown !== null) send({ id, output: shown });
    };
    const call = { servers, signal: abort.signal, output };
    send({ id, result: await methods[method](root, request as never, call) });
  } catch (error) {
    send({ id, fault: asFault(error) });
  } finally {
    calls.delete(id);
  }
}
