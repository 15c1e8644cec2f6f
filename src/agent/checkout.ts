/** Where stories are worked on and where they go, as the drive knows it. Lanes are counted from 0. */
import { join } from 'node:path';
import { Exclusive } from '../lib/exclusive.ts';
import type { Branch } from './branch.ts';
import type { Git } from './git.ts';
import { commitLane, keepUnfinished, type Lane, moveCommit, removeLanes, resetLane } from './lane.ts';
import type { Repository } from './repository.ts';

export interface Checkouts {
  /** The folder of a lane, which is now as of this commit. */
  reset(lane: number, commit: string): Promise<string>;
  /** What was done in a lane since the base, as one commit on top of another; null when it does not fit there. */
  commit(lane: number, base: string, onto: string, message: string): Promise<string | null>;
  /** What of a story that failed is there to look at. */
  keep(lane: number, base: string, storyId: string): Promise<void>;
  moveBranch(commit: string): Promise<void>;
}

export interface GitPlaces {
  readonly git: Git;
  readonly repository: Repository;
  readonly branch: Branch;
  /** Where lanes are. */
  readonly folder: string;
}

export class GitCheckouts implements Checkouts {
  readonly #places: GitPlaces;
  readonly #order = new Exclusive();

  constructor(places: GitPlaces) {
    this.#places = places;
  }

  async reset(lane: number, commit: string): Promise<string> {
    const place = this.#lane(lane);
    // Worktrees are made and forgotten in one list.
    await this.#order.run('worktrees', () => resetLane(this.#places.git, place, commit));
    return place.folder;
  }

  async commit(lane: number, base: string, onto: string, message: string): Promise<string | null> {
    const { git } = this.#places;
    const made = await commitLane(git, this.#lane(lane), base, message);
    return base === onto ? made : moveCommit(git, this.#lane(lane), made, onto);
  }

  keep(lane: number, base: string, storyId: string): Promise<void> {
    return keepUnfinished(this.#places.git, this.#lane(lane), base, storyId);
  }

  moveBranch(commit: string): Promise<void> {
    return this.#places.branch.move(commit);
  }

  /** When there is nothing more to do in them. */
  async remove(): Promise<void> {
    const { git, repository, folder } = this.#places;
    // They only take room, ignoring.
    await removeLanes(git, repository, folder).catch(() => {});
  }

  #lane(lane: number): Lane {
    const { repository, folder } = this.#places;
    return { folder: join(folder, String(lane)), repository };
  }
}
