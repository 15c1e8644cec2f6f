/**
 * The checkouts of a repository in which agents work on stories, and the branch of finished stories. Lanes are counted from 0.
 *
 * Life cycle: a lane is reset to the tip of the branch → an agent works in it → its changes become one commit on top of the
 * tip, or are kept under a ref if the story failed → the branch moves → the next story resets the lane. All lanes are removed
 * at the end.
 *
 * Promises: whatever the agent does to a checkout, its branch or its locks, a reset repairs it.
 */
import { join } from 'node:path';
import { Exclusive } from '../../../../lib/flow/exclusive.ts';
import type { AgentGit } from './agent-git.ts';
import type { Branch } from './branch.ts';
import { commitLane, keepUnfinished, type Lane, moveCommit, removeLanes, resetLane } from './lane.ts';
import type { Repository } from './repository.ts';

export interface Checkouts {
  /** Resets a lane to this commit and returns its folder. */
  reset(lane: number, commit: string): Promise<string>;
  /** The changes of a lane since the base, as one commit on top of another; null: they conflict. */
  commit(lane: number, base: string, onto: string, message: string): Promise<string | null>;
  /** Keeps the changes of a failed story under a ref. */
  keep(lane: number, base: string, storyId: string): Promise<void>;
  moveBranch(commit: string): Promise<void>;
}

export interface CheckoutParts {
  readonly git: AgentGit;
  readonly repository: Repository;
  readonly branch: Branch;
  /** The folder of the lanes. */
  readonly folder: string;
}

export class GitCheckouts implements Checkouts {
  readonly #places: CheckoutParts;
  readonly #order = new Exclusive();

  constructor(places: CheckoutParts) {
    this.#places = places;
  }

  async reset(lane: number, commit: string): Promise<string> {
    const place = this.#lane(lane);
    // Git keeps all worktrees in one list, so only one lane changes it at a time.
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

  async remove(): Promise<void> {
    const { git, repository, folder } = this.#places;
    // Lanes that stay only take space, ignoring.
    await removeLanes(git, repository, folder).catch(() => {});
  }

  #lane(lane: number): Lane {
    const { repository, folder } = this.#places;
    return { folder: join(folder, String(lane)), repository };
  }
}
