/** Checks an archive on its way to the program that unpacks it: each entry before a byte of it is passed on. */
import { statfs } from 'node:fs/promises';
import { Fault, spaceHint } from '../../../model/fault.ts';
import { blockBytes, damaged, type Header, isZero, padded, parseHeader, parseRecords } from './member.ts';
import type { MemberRule } from './member-rule.ts';

const maxRecordsBytes = 1024 * 1024;

export async function* judged(source: AsyncIterable<Buffer>, rule: MemberRule): AsyncGenerator<Buffer> {
  const input = new Input(source);
  let extended: { blocks: Buffer[]; records: Map<string, string> } | null = null;
  for (;;) {
    const block = await input.take(blockBytes);
    if (isZero(block)) return yield* end(block, input);
    const header = parseHeader(block);
    if (header.type === 'x' && extended === null) {
      extended = await readExtended(block, header, input);
      continue;
    }
    const records = extended?.records ?? new Map<string, string>();
    const member = { ...overridden(header, records), records };
    const taken = rule.judge(member) === 'take';
    if (taken) yield* [...(extended?.blocks ?? []), block];
    for await (const chunk of input.upTo(padded(member.sizeBytes))) if (taken) yield chunk;
    extended = null;
  }
}

async function readExtended(block: Buffer, { sizeBytes }: Header, input: Input) {
  if (!(sizeBytes <= maxRecordsBytes)) throw damaged('an extended header is too long');
  const body = await input.take(padded(sizeBytes));
  return { blocks: [block, body], records: parseRecords(body.subarray(0, sizeBytes)) };
}

function overridden(header: Header, records: ReadonlyMap<string, string>): Header {
  const size = records.get('size');
  const sizeBytes = size === undefined ? header.sizeBytes : /^\d{1,15}$/.test(size) ? Number(size) : Number.NaN;
  if (Number.isNaN(sizeBytes)) throw damaged('an entry has no proper size');
  return {
    ...header,
    name: records.get('path') ?? header.name,
    linkName: records.get('linkpath') ?? header.linkName,
    sizeBytes,
  };
}

/** After the first empty block only empty ones may follow. */
async function* end(first: Buffer, input: Input): AsyncGenerator<Buffer> {
  yield first;
  yield await input.take(blockBytes);
  for await (const chunk of input.upTo(Number.POSITIVE_INFINITY)) {
    if (!isZero(chunk)) throw damaged('something follows its end');
  }
}

class Input {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.upTo(bytes)) chunks.push(chunk);
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  }

  /** Throws if the source ends before that many bytes, unless the number is infinite. */
  async *upTo(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        if (left === Number.POSITIVE_INFINITY) return;
        throw damaged('it ends too early');
      }
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (!done) this.#rest = value;
    return !done;
  }
}

const lookEveryBytes = 64 * 1024 * 1024;
const reserveBytes = 1024 ** 3;
const reserveShare = 0.05;

/** A small archive may expand to more than the disk: stops while there is still room for other users. */
export async function* spaced(source: AsyncIterable<Buffer>, folder: string): AsyncGenerator<Buffer> {
  let sinceLook = lookEveryBytes;
  for await (const chunk of source) {
    if (sinceLook >= lookEveryBytes) {
      await checkSpace(folder);
      sinceLook = 0;
    }
    sinceLook += chunk.length;
    yield chunk;
  }
}

async function checkSpace(folder: string): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder);
  if (bavail * bsize >= Math.min(reserveBytes, blocks * bsize * reserveShare)) return;
  throw new Fault('exhausted', `there is not enough room at ${folder}`, { hint: spaceHint });
}
