/** The language servers of a project: started on demand, with the state of the files on disk. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Fault } from '../model/fault.ts';
import { printable } from '../model/name.ts';
import { languageOf } from './known.ts';
import type { Answer, CallOptions, LanguageServers, ReadDocument, ServerSpec } from './lsp.ts';
import { Server } from './server.ts';
import { uriOf } from './uri.ts';
import { within } from './within.ts';

export interface ServersParts {
  readonly root: string;
  readonly specs: readonly ServerSpec[];
  readonly read: ReadDocument;
}

export class Servers implements LanguageServers {
  readonly #parts: ServersParts;
  readonly #running = new Map<string, Server>();

  constructor(parts: ServersParts) {
    this.#parts = parts;
  }

  async request(path: string, method: string, params: object, { signal, timeoutMs }: CallOptions): Promise<Answer> {
    const document = this.#parts.read(path);
    const server = this.#serverOf(document.path);
    const textDocument = { uri: uriOf(this.#parts.root, document.path) };
    const asked = { ...params, textDocument };
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, timeout]);
    let result: unknown = null;
    let answered = false;
    try {
      await within(server.ready, either);
      server.update(document);
      for (;;) {
        result = await server.request(method, asked, either);
        answered = true;
        if (!server.work.isRunning) return { status: 'complete', server: server.name, version: document.hash, result };
        await within(server.work.settled(), either);
      }
    } catch (error) {
      if (!timeout.aborted || signal.aborted) throw error;
      return { status: answered ? 'indexing' : 'timed_out', server: server.name, version: document.hash, result };
    }
  }

  #serverOf(path: string): Server {
    const candidates = this.#parts.specs.filter((spec) => languageOf(spec, path) !== null);
    if (candidates.length === 0) throw new Fault('unsupported', `no language server is known for ${printable(path)}`);
    for (const spec of candidates) {
      const server = this.#running.get(spec.name);
      if (server !== undefined && !server.hasEnded) return server;
      const command = commandOf(spec);
      if (command !== null) return this.#start(spec, command);
    }
    const [{ name, install }] = candidates as [ServerSpec];
    throw new Fault('unsupported', `there is no language server for ${printable(path)}: ${name} is not installed`, {
      hint: `Install it: ${install}`,
    });
  }

  #start(spec: ServerSpec, command: readonly string[]): Server {
    const server = new Server(spec, command, this.#parts.root);
    this.#running.set(spec.name, server);
    return server;
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#running.values()].map((server) => server.stop()));
  }
}

/** The first of its commands whose program exists. */
function commandOf({ commands }: ServerSpec): readonly string[] | null {
  return commands.find(([program = '']) => isProgram(program)) ?? null;
}

function isProgram(program: string): boolean {
  if (program.includes('/')) return isExecutable(program);
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
