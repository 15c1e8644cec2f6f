/** Images of a Docker Engine: found, pulled and built. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Fault } from '../../../../model/fault.ts';
import { Connection } from '../connection/connection.ts';
import { askFacts } from '../connection/facts.ts';
import { findSocket } from '../connection/socket.ts';
import { refusalOf } from './image-refusal.ts';

interface ImageInfo {
  readonly Id: string;
  readonly RepoDigests?: readonly string[] | null | undefined;
  readonly Size?: number;
  readonly Os?: string;
  readonly Architecture?: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly Config?: {
    readonly Labels?: Readonly<Record<string, string>> | null;
    readonly Env?: readonly string[] | null;
  } | null;
}

interface Found {
  readonly id: string;
  readonly digests: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  readonly path: string | null;
  readonly platform: string;
}

interface Order {
  readonly archive: AsyncIterable<Buffer>;
  readonly dockerfile: string;
  readonly tag: string;
  readonly network: boolean;
  readonly limits: { readonly cpus: number; readonly memoryBytes: number; readonly swapBytes: number };
}

interface ImportOrder {
  readonly archive: AsyncIterable<Buffer>;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly settings?: readonly string[];
}

type Message =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'image'; readonly id: string }
  | { readonly kind: 'failure'; readonly message: string; readonly exitCode: number | null };

const cpuPeriodMicros = 100_000;
const maxMessageBytes = 1024 * 1024;

export class DockerImages {
  readonly #socketPath: string | undefined;
  #opened: Connection | null = null;
  readonly #refusals = new Map<string, Promise<string | null>>();

  constructor(socketPath?: string) {
    this.#socketPath = socketPath;
  }

  get #connection(): Connection {
    this.#opened ??= new Connection(this.#socketPath ?? findSocket(process.env));
    return this.#opened;
  }

  async find(reference: string): Promise<Found | null> {
    const info = await this.#connection.find((docker) => docker.getImage(reference).inspect());
    return info && foundFrom(info as ImageInfo);
  }

  /** An id always stands for the same content, so each image is examined once. */
  refusal(image: Found): Promise<string | null> {
    const known = this.#refusals.get(image.id);
    if (known) return known;
    const found = refusalOf(image, this.#connection);
    this.#refusals.set(image.id, found);
    found.catch(() => this.#refusals.delete(image.id));
    return found;
  }

  async labelled(label: string): Promise<readonly Found[]> {
    const filters = JSON.stringify({ label: [label] });
    const all = await this.#connection.ask((docker) => docker.listImages({ filters }));
    return all.map(foundFrom);
  }

  async remove(id: string): Promise<void> {
    await this.#connection.find((docker) => docker.getImage(id).remove());
  }

  async *pull(reference: string, signal: AbortSignal): AsyncGenerator<Message> {
    yield* this.#messages('/images/create', { fromImage: reference }, undefined, signal);
  }

  async *import({ archive, tag, labels, settings = [] }: ImportOrder, signal: AbortSignal): AsyncGenerator<Message> {
    const [repo, name] = [tag.slice(0, tag.lastIndexOf(':')), tag.slice(tag.lastIndexOf(':') + 1)];
    const label = `LABEL ${Object.entries(labels)
      .map((pair) => pair.join('='))
      .join(' ')}`;
    const changes = [...settings, label].join('\n');
    yield* this.#messages('/images/create', { fromSrc: '-', repo, tag: name, changes }, archive, signal);
  }

  /** Uses the builder that takes one archive and no session: it lacks the features that a Dockerfile could misuse. */
  async *build(order: Order, signal: AbortSignal): AsyncGenerator<Message> {
    const { limits } = order;
    const query = {
      version: '1',
      dockerfile: order.dockerfile,
      t: order.tag,
      rm: '1',
      forcerm: '1',
      networkmode: order.network ? 'default' : 'none',
      memory: String(limits.memoryBytes),
      memswap: String(limits.swapBytes),
      cpuperiod: String(cpuPeriodMicros),
      cpuquota: String(Math.round(limits.cpus * cpuPeriodMicros)),
    };
    yield* this.#messages('/build', query, order.archive, signal);
  }

  /** Refuses Podman: its builder behind the same API does not give the same guarantees. */
  async requireBuilder(): Promise<void> {
    const { product } = await askFacts(this.#connection);
    if (product !== 'Podman') return;
    throw new Fault('unsupported', 'Carrel does not build images with Podman', {
      hint: 'Build one with podman build, name it in images of config.yaml, and use it with --image.',
    });
  }

  async *#messages(
    path: string,
    query: Record<string, string>,
    archive: AsyncIterable<Buffer> | undefined,
    signal: AbortSignal,
  ) {
    const body = archive && Readable.from(archive, { objectMode: false });
    let trouble: unknown = null;
    body?.once('error', (error) => {
      trouble = error;
    });
    try {
      const answer = await this.#connection.post(path, query, { body, signal });
      for await (const line of linesOf(answer)) yield* messagesIn(line);
    } catch (error) {
      if (trouble instanceof Fault) throw trouble;
      if (signal.aborted) throw new Fault('cancelled', 'the build was stopped', { cause: error });
      throw this.#connection.brokeOff(error);
    } finally {
      body?.destroy();
    }
  }
}

function foundFrom(info: ImageInfo): Found {
  return {
    id: info.Id,
    digests: (info.RepoDigests ?? []).map((name) => name.slice(name.indexOf('@') + 1)),
    labels: info.Labels ?? info.Config?.Labels ?? {},
    sizeBytes: info.Size ?? 0,
    path: info.Config?.Env?.find((one) => one.startsWith('PATH='))?.slice('PATH='.length) ?? null,
    platform: `${info.Os || 'linux'}/${info.Architecture ?? ''}`,
  };
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let held = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    const lines = (held + chunk).split(/\r?\n/);
    held = lines.pop()!;
    if (held.length > maxMessageBytes) throw new Error('it sends a message without an end');
    yield* lines;
  }
  yield held;
}

interface BuilderMessage {
  readonly stream?: unknown;
  readonly status?: unknown;
  readonly aux?: { readonly ID?: unknown } | null;
  readonly error?: unknown;
  readonly errorDetail?: { readonly code?: unknown; readonly message?: unknown } | null;
}

/** The builder colours what a step writes to stderr red. */
const redText = /^\u001b\[91m([\s\S]*)\u001b\[0m$/;

function* messagesIn(line: string): Generator<Message> {
  if (line === '') return;
  const parsed = JSON.parse(line) as BuilderMessage;
  if (typeof parsed.stream === 'string') yield { kind: 'output', text: parsed.stream.replace(redText, '$1') };
  if (typeof parsed.status === 'string') yield { kind: 'output', text: `${parsed.status}\n` };
  if (typeof parsed.aux?.ID === 'string') yield { kind: 'image', id: parsed.aux.ID };
  const message = parsed.errorDetail?.message ?? parsed.error;
  if (typeof message !== 'string') return;
  const code = parsed.errorDetail?.code;
  yield { kind: 'failure', message, exitCode: typeof code === 'number' && code !== 0 ? code : null };
}
