/** The task files of one user's projects, for the API. */
import { setTimeout as pause } from 'node:timers/promises';
import { asFault, Fault } from '../../../../model/fault.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';
import type { ChangedStoriesView, StoryView, TaskEntryView, TaskView } from '../../api/task.ts';
import type { StoryStatus } from '../../model/message.ts';
import {
  checkStoryTransition,
  defaultConcurrency,
  openDependencies,
  orphanedStories,
  progressOf,
  readyStories,
  type Story,
  skippedWith,
  type TaskFile,
} from '../../model/task.ts';
import type { StoryChange, TaskReading } from '../../model/task-text.ts';
import { placeOf, type TaskPlace, taskPath } from '../../task/task.ts';
import type { Tasks } from '../../task/tasks.ts';

export interface TaskParts {
  readonly tasks: Tasks;
  /** The container of a swarm that works on a file; null: none. */
  readonly workerOf?: (place: TaskPlace) => string | null;
}

export interface MarkOrder {
  readonly file: string;
  readonly story: string;
  readonly status: StoryStatus;
  readonly notes?: string | undefined;
  /** Marks the story although stories that it depends on are open. */
  readonly force?: boolean | undefined;
}

export class UserTasks {
  readonly #sandboxes: Sandboxes;
  readonly #parts: TaskParts;

  constructor(sandboxes: Sandboxes, parts: TaskParts) {
    this.#sandboxes = sandboxes;
    this.#parts = parts;
  }

  async list(project: string): Promise<TaskEntryView[]> {
    const entries: TaskEntryView[] = [];
    for (const place of this.#parts.tasks.find(this.#sandboxes.project(project))) {
      entries.push(entryOf(place, this.#tryRead(place)));
      // Other requests are answered between two files: each takes several rounds of the event loop.
      await pause(1);
    }
    return entries;
  }

  /** A file that cannot be read is listed with the reason, and the others are read. */
  #tryRead(place: TaskPlace): TaskReading {
    try {
      return this.#parts.tasks.tryRead(place, this.#sandboxes.account);
    } catch (error) {
      return { problems: [{ line: 1, path: '', reason: asFault(error).message }] };
    }
  }

  show(file: string): TaskView {
    const place = this.place(file);
    return viewOf(place, this.#parts.tasks.read(place, this.#sandboxes.account).file);
  }

  async mark({ file, story: id, status, notes, force = false }: MarkOrder): Promise<ChangedStoriesView> {
    if (status === 'skipped') return this.#change(file, id, (stories) => skips(id, stories, notes));
    return this.#change(file, id, (stories, story) => {
      checkStoryTransition(id, story.status, status);
      if (!force && needsDependencies.includes(status)) refuseBlocked(story, stories);
      return [{ id, status, notes }];
    });
  }

  skip(file: string, story: string): Promise<ChangedStoriesView> {
    return this.#change(file, story, (stories) => skips(story, stories));
  }

  async reset(file: string): Promise<ChangedStoriesView> {
    return this.#changeAll(file, ({ userStories }) =>
      orphanedStories(userStories, new Set()).map((id) => ({ id, status: 'failed' })),
    );
  }

  /** The real place of a task file that this user may name. */
  place(file: string): TaskPlace {
    const place = placeOf(file);
    return { ...place, project: this.#sandboxes.project(place.project) };
  }

  #change(
    file: string,
    id: string,
    find: (stories: readonly Story[], story: Story) => readonly StoryChange[],
  ): Promise<ChangedStoriesView> {
    return this.#changeAll(file, ({ userStories }) => {
      const story = userStories.find((one) => one.id === id);
      if (!story) {
        const ids = userStories.map((one) => one.id);
        throw new Fault('not_found', `there is no story ${id}`, { hint: `There are ${ids.join(', ')}.` });
      }
      return find(userStories, story);
    });
  }

  async #changeAll(file: string, find: (task: TaskFile) => readonly StoryChange[]): Promise<ChangedStoriesView> {
    const place = this.place(file);
    const worker = this.#parts.workerOf?.(place) ?? null;
    if (worker !== null) {
      throw new Fault('conflict', `${worker} is at work on ${taskPath(place)}`, {
        hint: `Wait until it has ended, or: carrel swarm stop ${worker}`,
      });
    }
    let changed: readonly StoryChange[] = [];
    const found = (task: { readonly file: TaskFile }) => {
      changed = find(task.file);
      return changed;
    };
    const after = await this.#parts.tasks.change(place, found, this.#sandboxes.account);
    return { changed: changed.map(({ id }) => id), task: viewOf(place, after.file) };
  }
}

/** The statuses that need completed dependencies. A story can fail whatever it depends on. */
const needsDependencies: readonly StoryStatus[] = ['in_progress', 'completed'];

function refuseBlocked(story: Story, stories: readonly Story[]): void {
  const open = openDependencies(story, stories);
  if (open.length === 0) return;
  throw new Fault(
    'conflict',
    `${story.id} depends on ${open.join(', ')}, which ${open.length === 1 ? 'is' : 'are'} open`,
    {
      hint: 'Complete or skip that first, or mark it all the same with --force.',
    },
  );
}

/** The story itself must allow a skip; the pending stories that depend on it are skipped, too. */
function skips(id: string, stories: readonly Story[], notes?: string): StoryChange[] {
  checkStoryTransition(id, stories.find((one) => one.id === id)!.status, 'skipped');
  return skippedWith(id, stories).map((one) => ({ id: one, status: 'skipped', ...(one === id ? { notes } : {}) }));
}

function entryOf(place: TaskPlace, reading: TaskReading): TaskEntryView {
  const file = taskPath(place);
  if ('problems' in reading) {
    return { file, title: null, branchName: null, progress: null, problems: [...reading.problems] };
  }
  const { metadata, userStories } = reading.file;
  const { title, branchName } = metadata;
  return { file, title, branchName, progress: progressOf(userStories), problems: [] };
}

function viewOf(place: TaskPlace, { metadata, userStories }: TaskFile): TaskView {
  const { title, type, branchName, createdAt, maxConcurrency = defaultConcurrency } = metadata;
  const ready = readyStories(userStories).map(({ id }) => id);
  return {
    file: taskPath(place),
    ...{ title, type, branchName, createdAt, maxConcurrency },
    progress: progressOf(userStories),
    stories: userStories.map((story) => storyView(story, userStories, ready.includes(story.id))),
    ready,
  };
}

function storyView(story: Story, stories: readonly Story[], ready: boolean): StoryView {
  return {
    ...story,
    acceptanceCriteria: [...story.acceptanceCriteria],
    dependsOn: [...story.dependsOn],
    notes: story.notes ?? null,
    ready,
    waitsFor: story.status === 'pending' ? [...openDependencies(story, stories)] : [],
  };
}
