/**
 * All inboxes of a room: that of its owner, `inbox/`, and `.carrel/inbox/NAME` of each other participant. The folders
 * on disk are the only list of them. If a participant leaves, its inbox is renamed to `NAME~…`, drained and removed, by
 * a later process if need be.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../../lib/file/file.ts';
import { inboxOf } from '../model/grant.ts';
import type { Participant, RoomLimits } from '../model/room.ts';
import type { Room } from '../room.ts';
import type { InboxWatch, WatchKind } from './inbox-watch.ts';
import { Intake } from './intake.ts';

export interface InboxesParts {
  readonly folder: string;
  /** The participant whose inbox is `inbox/`. */
  readonly owner: Participant;
  readonly room: Pick<Room, 'post' | 'refuse' | 'participants' | 'setPosition'>;
  readonly limits: Pick<RoomLimits, 'bodyBytes' | 'attachments' | 'attachmentBytes'>;
  readonly watch: InboxWatch;
  readonly report: (error: unknown) => void;
}

const leaving = '~';

export class Inboxes {
  readonly #parts: InboxesParts;
  readonly #intake: Intake;
  readonly #started: Promise<void>;
  readonly #drains = new Set<Promise<void>>();

  /** Starts to handle the files that the inboxes already contain, in the background. */
  constructor(parts: InboxesParts) {
    this.#parts = parts;
    const { room, limits, watch, report, folder } = parts;
    this.#intake = new Intake({ room, limits, watch, report, taking: join(folder, '.carrel/taking') });
    this.#started = this.#start().catch(report);
  }

  get watch(): WatchKind {
    return this.#intake.watch;
  }

  /** Idempotent. Returns the folder. */
  async add(participant: Participant): Promise<string> {
    const folder = inboxOf(this.#parts.folder, participant.name);
    await this.#started;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await this.#intake.add({ participant, folder });
    return folder;
  }

  /**
   * Call it when the participant no longer writes. Its files are handled in the background, then the folder is removed.
   * Idempotent.
   */
  async remove(name: string): Promise<void> {
    const folder = inboxOf(this.#parts.folder, name);
    await this.#started;
    await this.#intake.remove(folder);
    if (!existsSync(folder)) return;
    const left = `${name}${leaving}${randomBytes(4).toString('hex')}`;
    renameSync(folder, inboxOf(this.#parts.folder, left));
    this.#drain(await this.#participant(name), left);
  }

  /** Resolves when no removed inbox is being drained any more. */
  async idle(): Promise<void> {
    await this.#started;
    await Promise.all(this.#drains);
  }

  async close(): Promise<void> {
    await this.#started;
    await this.#intake.close();
    await Promise.all(this.#drains);
  }

  async #start(): Promise<void> {
    await this.#intake.recover();
    const { folder, owner } = this.#parts;
    const names = readdirSync(join(folder, '.carrel/inbox'));
    await this.#intake.add({ participant: owner, folder: join(folder, 'inbox') });
    for (const name of names) {
      const participant = await this.#participant(name.split(leaving)[0]!);
      if (name.includes(leaving)) this.#drain(participant, name);
      else await this.#intake.add({ participant, folder: inboxOf(folder, name) });
    }
  }

  async #participant(name: string): Promise<Participant> {
    const found = (await this.#parts.room.participants()).find((one) => one.name === name);
    return { name, kind: found?.kind ?? 'outside' };
  }

  #drain(participant: Participant, name: string): void {
    const folder = inboxOf(this.#parts.folder, name);
    const drain = this.#intake
      .drain({ participant, folder })
      .then((isDone) => (isDone ? removeTree(folder) : undefined))
      .catch(this.#parts.report)
      .finally(() => this.#drains.delete(drain));
    this.#drains.add(drain);
  }
}
