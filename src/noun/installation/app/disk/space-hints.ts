/** Which sandbox to remove on a full disk. */

import type { Home } from '../../../../kernel/home/home.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { diskUsages } from '../../../../lib/file/disk.ts';
import { withTimeout } from '../../../../lib/flow/with-timeout.ts';
import { Fault, isFault, spaceHint } from '../../../../model/fault.ts';
import { formatSize } from '../../../../model/size.ts';

/** How long a refused request waits for the measurement. */
const measureMs = 2000;
/** Many requests are refused on a full disk; one measurement is reused for this long. */
const keptMs = 5000;

export class SpaceHints {
  readonly #parts: { readonly store: Store; readonly home: Pick<Home, 'sandbox'> };
  readonly #measured = new Map<string, { readonly atMs: number; readonly hint: Promise<string> }>();

  constructor(parts: { readonly store: Store; readonly home: Pick<Home, 'sandbox'> }) {
    this.#parts = parts;
  }

  /** The same Fault; if it says that the disk is full, its hint names the largest sandbox of that user. */
  async named(fault: Fault, user: string): Promise<Fault> {
    if (!isFault(fault, 'exhausted') || fault.hint !== spaceHint) return fault;
    const { cause, data } = fault;
    const hint = await withTimeout(measureMs, this.#hint(user), () => spaceHint);
    return new Fault('exhausted', fault.message, { cause, hint, ...(data ? { data } : {}) });
  }

  #hint(user: string): Promise<string> {
    const known = this.#measured.get(user);
    if (known && performance.now() - known.atMs < keptMs) return known.hint;
    const hint = this.#measure(user).catch(() => spaceHint);
    this.#measured.set(user, { atMs: performance.now(), hint });
    return hint;
  }

  async #measure(user: string): Promise<string> {
    const { store, home } = this.#parts;
    const names = new Map(store.list('sandbox', user).map(({ id, name }) => [home.sandbox(id), name]));
    const [largest] = [...(await diskUsages([...names.keys()], 'bytes'))].sort((one, other) => other[1] - one[1]);
    const name = largest && names.get(largest[0]);
    if (name === undefined) return spaceHint;
    return `${name} takes ${formatSize(largest![1])}, the most of your sandboxes; this frees it: carrel rm --force ${name}`;
  }
}
