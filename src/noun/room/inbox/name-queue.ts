/**
 * A queue of the names in an inbox that have to be checked. Memory and the time of a call do not grow with the folder.
 */
import { type Dir, opendirSync } from 'node:fs';
import { statIn } from '../../../lib/sys/stat.ts';

const maxNames = 4096;
const partNames = 512;
/** After a scan of the folder, the next scan waits for this many times the duration of the last one. */
const restFactor = 20;

export class NameQueue {
  readonly #folderFd: number;
  /** Encoded as latin1, which keeps all bytes. */
  readonly #names = new Set<string>();
  #scan: Dir | null = null;
  /** Names were dropped or are unknown, so the folder has to be read. */
  #isIncomplete = true;
  #scanBegan = 0;
  #restUntil = 0;
  readonly #nowMs: () => number;

  constructor(folderFd: number, nowMs = () => performance.now()) {
    this.#folderFd = folderFd;
    this.#nowMs = nowMs;
  }

  /** Null: any name may be new. */
  add(name: Buffer | null): void {
    if (name === null || this.#names.size >= maxNames) this.#isIncomplete = true;
    else this.#names.add(name.toString('latin1'));
  }

  get isEmpty(): boolean {
    return this.#names.size === 0 && this.#scan === null && !this.#isIncomplete;
  }

  /** Whether `take` can make progress now: there are names, or the folder may be read again. */
  get isReady(): boolean {
    return this.#names.size > 0 || this.#scan !== null || (this.#isIncomplete && this.#nowMs() >= this.#restUntil);
  }

  /** Makes the folder readable again at once, without the wait between two scans. */
  readNow(): void {
    this.#isIncomplete = true;
    this.#restUntil = 0;
  }

  /** The next names. Fewer than `most`, even none, does not mean that there are no more. */
  take(most: number): Buffer[] {
    if (this.#names.size === 0 && this.isReady) this.#read();
    const taken: Buffer[] = [];
    for (const name of this.#names) {
      if (taken.length >= most) break;
      taken.push(Buffer.from(name, 'latin1'));
      this.#names.delete(name);
    }
    return taken;
  }

  /** Reads a part of the folder, the oldest file of that part first. */
  #read(): void {
    if (this.#scan === null) {
      this.#isIncomplete = false;
      this.#scanBegan = this.#nowMs();
      this.#scan = opendirSync(`/proc/self/fd/${this.#folderFd}`, { encoding: 'buffer' as BufferEncoding });
    }
    for (const name of byAge(this.#folderFd, this.#part(this.#scan))) this.#names.add(name.toString('latin1'));
  }

  #part(scan: Dir): Buffer[] {
    const names: Buffer[] = [];
    for (let read = 0; read < partNames; read++) {
      const one = scan.readSync();
      if (one === null) {
        this.#restUntil = this.#nowMs() + restFactor * (this.#nowMs() - this.#scanBegan);
        this.close();
        break;
      }
      names.push(one.name as unknown as Buffer);
    }
    return names;
  }

  close(): void {
    this.#scan?.closeSync();
    this.#scan = null;
  }
}

function byAge(folderFd: number, names: readonly Buffer[]): Buffer[] {
  const ages = names.map((name) => ({ name, at: statIn({ folderFd, name })?.mtimeNs ?? 0n }));
  return ages.sort((one, other) => Number(one.at - other.at)).map(({ name }) => name);
}
