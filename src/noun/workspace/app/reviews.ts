/** What agents changed, for people to look at. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { makeScratch } from '../../../kernel/home/home.ts';
import type { JobOwner } from '../../../kernel/job/job.ts';
import { removeTree } from '../../../lib/file/file.ts';
import { EncodedJson } from '../../../lib/wire/encoded-json.ts';
import { toText } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { ChangesView } from '../api.ts';
import type { ReviewInput } from '../review-job.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { bytePaths, openState, openWorkspace, type WorkspaceParts } from './workspaces.ts';

/** At most this many lines name gated changes. */
const maxMarked = 20;

/** A `ChangesView` whose list is JSON already. */
export interface ShownChanges {
  readonly changes: EncodedJson;
  readonly hiddenInGit: number;
  readonly ignored: ChangesView['ignored'];
}

export interface PatchOrder extends ReviewOrder {
  readonly message: string | undefined;
}

/** The changes to show: all, or those at these pathspecs; with or without what git ignores. */
export interface ReviewOrder {
  readonly paths?: readonly string[] | undefined;
  readonly ignored?: boolean | undefined;
}

/** The changes of a snapshot, or the difference to another working copy. */
export interface CompareOrder extends ReviewOrder {
  readonly snapshot?: string | undefined;
  readonly against?: { readonly name: string; readonly snapshot?: string | undefined } | undefined;
}

export class Reviews {
  readonly #parts: WorkspaceParts;

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  async changes(name: string, order: CompareOrder, signal?: AbortSignal): Promise<ShownChanges> {
    const { sandbox, input: compared } = await this.#compared(name, order);
    const scratch = makeScratch(this.#parts.home);
    const input = { ...compared, scratch };
    try {
      const { changes, ...rest } = await this.#parts.threads.run(jobOf(sandbox, signal), 'reviewShown', input);
      return { changes: new EncodedJson(changes), ...rest };
    } finally {
      // The client does not wait for this, and a crash leaves it to the next start, which empties all scratch folders.
      void removeTree(scratch).catch(() => {});
    }
  }

  async offer(name: string, order: ReviewOrder, signal?: AbortSignal) {
    const { place, sandbox } = await openWorkspace(this.#parts, name);
    const scratch = makeScratch(this.#parts.home);
    try {
      const input = { ...inputOf(place, order), scratch };
      const { files, others } = await this.#parts.threads.run(jobOf(sandbox, signal), 'offerShown', input);
      return { files: new EncodedJson(files), others: [...others] };
    } finally {
      await removeTree(scratch);
    }
  }

  async *diff(name: string, order: CompareOrder, signal?: AbortSignal): AsyncGenerator<Buffer> {
    const { sandbox, input } = await this.#compared(name, order);
    const owner = jobOf(sandbox, signal);
    yield* this.#written((scratch, file) => this.#parts.threads.run(owner, 'writeDiff', { ...input, scratch }, file));
  }

  async #compared(name: string, order: CompareOrder) {
    const { sandbox, place } = await openState(this.#parts, name, order.snapshot);
    if (order.against === undefined) return { sandbox, input: inputOf(place, order) };
    const other = await openState(this.#parts, order.against.name, order.against.snapshot);
    if (other.place.project !== place.project) throw otherProject(sandbox, other.sandbox);
    return { sandbox, input: { ...inputOf(place, order), against: other.place } };
  }

  /** Calls `warn` for changes that a patch cannot carry, and for those that `apply` would ask about. */
  async *patch(
    name: string,
    order: PatchOrder,
    warn: (text: string) => void,
    signal?: AbortSignal,
  ): AsyncGenerator<Buffer> {
    const { place, sandbox } = await openWorkspace(this.#parts, name);
    const input = inputOf(place, order);
    const head = patchHead(name, order.message, this.#parts.now());
    yield* this.#written(async (scratch, file) => {
      const { leftOut, gated } = await this.#parts.threads.run(
        jobOf(sandbox, signal),
        'writePatch',
        { ...input, scratch },
        head,
        file,
      );
      for (const path of leftOut) warn(`not in the patch: ${toText(path)}`);
      for (const { path, gates, note } of gated.slice(0, maxMarked))
        warn(`could run something: ${toText(path)} [${gates.join(', ')}]${note === null ? '' : `: ${note}`}`);
      if (gated.length > maxMarked)
        warn(`could run something: ${gated.length - maxMarked} more, which the patch names`);
    });
  }

  async *#written(write: (scratch: string, file: string) => Promise<unknown>): AsyncGenerator<Buffer> {
    const scratch = makeScratch(this.#parts.home);
    const file = join(scratch, 'output');
    try {
      await write(scratch, file);
      for await (const chunk of createReadStream(file)) yield chunk as Buffer;
    } finally {
      await removeTree(scratch);
    }
  }
}

function otherProject(one: Sandbox, other: Sandbox): Fault {
  return new Fault('invalid', `${one.name} and ${other.name} have different projects`, {
    hint: `${one.name} works on ${one.spec.project}, ${other.name} on ${other.spec.project}.`,
  });
}

function inputOf(place: WorkspacePlace, { paths, ignored }: ReviewOrder): Omit<ReviewInput, 'scratch'> {
  return { place, paths: bytePaths(paths), ignored: ignored ?? false };
}

function jobOf({ id, spec }: Sandbox, signal: AbortSignal | undefined): JobOwner {
  return { user: spec.user, sandbox: id, signal };
}

function patchHead(name: string, message: string | undefined, now: string) {
  const [subject = '', ...rest] = (message ?? `Changes of ${name}`).split('\n');
  const author = { name: 'Carrel', email: 'carrel@localhost' };
  return { subject, body: rest.join('\n').trim(), author, date: new Date(now) };
}
