/** The language servers of a project, with the state of the files on disk. */
import { isFault } from '../../../../model/fault.ts';
import { uriOf } from './answer/uri.ts';
import { commandOf } from './command.ts';
import { Documents } from './document/documents.ts';
import { Texts } from './document/texts.ts';
import { languageOf } from './known.ts';
import type { Document, LanguageServers, LspAnswer, LspCallOptions, ReadDocument, ServerSpec } from './lsp.ts';
import { Pool, poolLimits } from './pool.ts';
import type { Server } from './server.ts';
import { type TreeChanges, TreeWatch } from './watch/tree-watch.ts';
import { within } from './within.ts';

export interface ServersParts {
  readonly root: string;
  readonly specs: readonly ServerSpec[];
  readonly read: ReadDocument;
}

interface Ask {
  (server: Server, document: Document, signal: AbortSignal): Promise<unknown>;
  /** Resolves when missing parts of the answer may be there; null: the answer is complete. */
  readonly lacks?: (server: Server, document: Document) => Promise<void> | null;
}

const memoryCheckMs = 5000;
/** Package managers write one of these at the end of an installation. */
const installed = /(^|\/)node_modules\/\.(package-lock\.json|modules\.yaml|yarn-integrity|yarn-state\.yml)$/;

export class Servers implements LanguageServers {
  readonly #parts: ServersParts;
  readonly #pool: Pool;
  readonly #texts: Texts;
  readonly #documents: Documents;
  #specs: readonly ServerSpec[];
  #tree: TreeWatch | undefined;
  #checkedAt = 0;

  constructor(parts: ServersParts, limits = poolLimits()) {
    this.#parts = parts;
    this.#specs = parts.specs;
    this.#pool = new Pool(parts.root, limits);
    const isWatched = (path: string) => this.#tree?.has(path) ?? false;
    this.#texts = new Texts(parts.read, isWatched);
    this.#documents = new Documents(parts.root, parts.read, isWatched);
  }

  configure(specs: readonly ServerSpec[]): void {
    this.#specs = specs;
  }

  request(path: string, method: string, params: object, options: LspCallOptions): Promise<LspAnswer> {
    return this.#answer(path, options, (server, document, signal) => {
      const textDocument = { uri: uriOf(this.#parts.root, document.path) };
      return server.request(method, { ...params, textDocument }, signal);
    });
  }

  diagnose(path: string, options: LspCallOptions): Promise<LspAnswer> {
    const ask = (server: Server, document: Document, signal: AbortSignal) => server.diagnose(document, signal);
    const lacks = (server: Server, document: Document) => server.checked(document);
    return this.#answer(path, options, Object.assign(ask, { lacks }));
  }

  lines(path: string): readonly string[] {
    return this.#texts.lines(path);
  }

  async examples(): Promise<string[]> {
    const tree = this.#watched();
    await this.#sync(tree);
    const files = [...tree.files()];
    const specs = this.#specs.filter((spec) => commandOf(spec) !== null);
    const first = specs.filter((spec, index) => !specs.slice(0, index).some((other) => isAlternative(other, spec)));
    return first.flatMap((spec) => this.#exampleOf(spec, files) ?? []);
  }

  #exampleOf(spec: ServerSpec, files: readonly string[]): string | undefined {
    const open = this.#pool
      .all()
      .find((server) => server.spec.name === spec.name)
      ?.documents.paths();
    return open?.at(-1) ?? files.find((path) => languageOf(spec, path) !== null);
  }

  /** A server that ends during the request is started again once. */
  async #answer(path: string, options: LspCallOptions, ask: Ask): Promise<LspAnswer> {
    const timeout = AbortSignal.timeout(options.timeoutMs);
    try {
      return await this.#once(path, options.signal, timeout, ask);
    } catch (error) {
      if (!isFault(error, 'unavailable') || options.signal.aborted) throw error;
      return this.#once(path, options.signal, timeout, ask);
    }
  }

  async #once(path: string, signal: AbortSignal, timeout: AbortSignal, ask: Ask): Promise<LspAnswer> {
    await this.#sync(this.#watched());
    const document = this.#documents.read(path);
    const server = this.#pool.serverFor(document.path, this.#specs);
    server.busy += 1;
    try {
      return await answerOf(server, document, signal, timeout, ask);
    } finally {
      server.busy -= 1;
      this.#check(server, timeout);
    }
  }

  /** Stops a server that did not answer in time and wrote nothing at all; the next request starts it again. */
  #check(server: Server, timeout: AbortSignal): void {
    if (timeout.aborted && !server.process.isTalking) void this.#pool.stop(server);
    if (performance.now() - this.#checkedAt < memoryCheckMs) return;
    this.#checkedAt = performance.now();
    this.#pool.limitMemory();
  }

  #watched(): TreeWatch {
    this.#tree ??= new TreeWatch(this.#parts.root);
    return this.#tree;
  }

  /** Announces all earlier changes to every running server. */
  async #sync(tree: TreeWatch): Promise<void> {
    const changes: TreeChanges = await tree.flush();
    if (changes.size === 0) return;
    this.#texts.drop(changes.keys());
    this.#documents.drop(changes.keys());
    // Servers do not read all installed files again, so they are restarted.
    if ([...changes.keys()].some((path) => installed.test(path))) await this.#pool.stopAll();
    for (const server of this.#pool.all()) server.announce(changes, this.#parts.read);
  }

  async dispose(): Promise<void> {
    this.#tree?.dispose();
    await this.#pool.stopAll();
  }
}

async function answerOf(
  server: Server,
  document: Document,
  signal: AbortSignal,
  timeout: AbortSignal,
  ask: Ask,
): Promise<LspAnswer> {
  const either = AbortSignal.any([signal, timeout]);
  const common = { server: server.spec.name, version: document.hash };
  let last: { readonly result: unknown } | undefined;
  try {
    await within(server.ready, either);
    await server.update(document, either);
    server.process.isTalking = false;
    for (;;) {
      last = { result: await ask(server, document, either) };
      const more = moreWork(server, ask.lacks?.(server, document) ?? null);
      if (more === null) return { ...common, ...last, status: 'complete' };
      await within(more, either);
    }
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    return { ...common, result: last?.result ?? null, status: last === undefined ? 'timed_out' : 'indexing' };
  }
}

/** Null: the answer is complete. */
function moreWork({ spec, work }: Server, lacks: Promise<void> | null): Promise<unknown> | null {
  const settled = spec.loadsFirst || !work.isRunning ? null : work.settled();
  return settled === null ? lacks : Promise.all([settled, lacks]);
}

/** True: the first server supports all files that the second one supports. */
function isAlternative(one: ServerSpec, other: ServerSpec): boolean {
  return Object.keys(other.languages).every((name) => one.languages[name] !== undefined);
}
