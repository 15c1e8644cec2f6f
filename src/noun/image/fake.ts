/**
 * Images in memory, for tests. It reads the archive of a build like an engine, and runs only `echo`, `exit` and `hang`.
 */
import { createHash } from 'node:crypto';
import { Fault } from '../../model/fault.ts';
import type { BuildMessage, BuildOrder, FoundImage, ImageEngine, ImportOrder } from './image.ts';

export interface BuildSeen {
  readonly order: Omit<BuildOrder, 'archive'>;
  readonly dockerfile: readonly string[];
  /** Content by path; for links, their target. */
  readonly files: ReadonlyMap<string, string>;
}

export class FakeImages implements ImageEngine {
  readonly builds: BuildSeen[] = [];
  /** The images of a registry, by name. */
  readonly registry = new Map<string, string>();
  /** True: the engine does not answer. */
  absent = false;
  /** Why no sandbox can be made of an image, by its id. */
  readonly refusals = new Map<string, string>();
  /** Why the engine cannot build; null: it can. */
  noBuilder: Fault | null = null;
  readonly #images = new Map<string, FoundImage>();
  readonly #names = new Map<string, string>();
  readonly #parents = new Map<string, string>();

  async requireBuilder(): Promise<void> {
    if (this.noBuilder) throw this.noBuilder;
  }

  /** Adds an image as if it was made elsewhere. */
  put(name: string, content: string, labels: Readonly<Record<string, string>> = {}): string {
    const id = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    this.#images.set(id, {
      id,
      digests: [],
      labels,
      sizeBytes: content.length,
      path: '/made/bin',
      platform: 'linux/amd64',
    });
    this.#names.set(name, id);
    return id;
  }

  get ids(): string[] {
    return [...this.#images.keys()];
  }

  async find(reference: string): Promise<FoundImage | null> {
    this.#checkThere();
    return this.#images.get(this.#names.get(reference) ?? reference) ?? null;
  }

  async refusal({ id }: FoundImage): Promise<string | null> {
    return this.refusals.get(id) ?? null;
  }

  async labelled(label: string): Promise<readonly FoundImage[]> {
    const [key, value] = label.split('=', 2);
    return [...this.#images.values()].filter(({ labels }) => labels[key!] === value);
  }

  async remove(id: string): Promise<void> {
    const child = [...this.#parents].find(([made, parent]) => parent === id && this.#images.has(made));
    if (child) throw new Fault('conflict', `${child[0]} is built on ${id}`);
    this.#images.delete(id);
  }

  async *pull(reference: string): AsyncGenerator<BuildMessage> {
    const content = this.registry.get(reference);
    if (content === undefined) throw new Fault('unavailable', `no registry has ${reference}`);
    this.put(reference, content);
    yield { kind: 'output', text: 'fetched\n' };
  }

  async *import({ archive, tag, labels }: ImportOrder): AsyncGenerator<BuildMessage> {
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk);
    yield { kind: 'output', text: this.put(tag, Buffer.concat(chunks).toString('latin1'), labels) };
  }

  async *build({ archive, ...order }: BuildOrder, signal: AbortSignal): AsyncGenerator<BuildMessage> {
    this.#checkThere();
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk);
    const files = filesIn(Buffer.concat(chunks));
    const dockerfile = files.get(order.dockerfile)!.trimEnd().split('\n');
    this.builds.push({ order, dockerfile, files });
    for (const [index, line] of dockerfile.entries()) {
      yield { kind: 'output', text: `Step ${index + 1}/${dockerfile.length} : ${line}` };
      yield { kind: 'output', text: '\n' };
      for (const message of await ran(line, signal)) {
        yield message;
        if (message.kind === 'failure') return;
      }
    }
    const labels = Object.fromEntries(
      (dockerfile.at(-1) ?? '')
        .split(' ')
        .slice(1)
        .map((pair) => pair.split('=', 2)),
    );
    const id = this.put(order.tag, JSON.stringify([dockerfile, [...files]]), labels);
    this.#parents.set(id, dockerfile.findLast((line) => line.startsWith('FROM '))!.split(' ')[1]!);
    yield { kind: 'image', id };
  }

  #checkThere(): void {
    if (this.absent) throw new Fault('unavailable', 'no engine answers');
  }
}

async function ran(line: string, signal: AbortSignal): Promise<BuildMessage[]> {
  const [, command, rest = ''] = /^RUN (echo|exit|hang)(?: (.*))?$/.exec(line) ?? [];
  if (command === 'echo') return [{ kind: 'output', text: `${rest}\n` }];
  if (command === 'exit') return [{ kind: 'failure', message: 'it failed', exitCode: Number(rest) }];
  if (command !== 'hang') return [];
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw new Fault('cancelled', 'the build was stopped');
}

const blockBytes = 512;

function filesIn(archive: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  const text = (at: number, length: number) => archive.toString('utf8', at, at + length).split('\0', 1)[0]!;
  for (let at = 0, long = ''; archive[at]; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const [name, type] = [long || text(at, 100), text(at + 156, 1)];
    const body = archive.toString('utf8', at + blockBytes, at + blockBytes + size);
    long = type === 'L' ? body.slice(0, -1) : '';
    if (type !== 'L') files.set(name, type === '2' ? text(at + 157, 100) : body);
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
  }
  return files;
}
