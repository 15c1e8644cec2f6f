/**
 * A task file: stories for one agent on one branch, in schema 3.0. It is a file of the project, so it is checked whenever it
 * is read; unknown fields stay in the file and have no meaning.
 *
 * A story's life:
 *
 *   pending → in_progress | skipped
 *   in_progress → completed | failed
 *   failed → in_progress
 *
 * A story is ready if it is pending and all of its dependencies are completed or skipped. Skipping a story also skips pending
 * stories that depend on it. A story that is in progress without a worker is an orphan, and has failed.
 */
import { Fault } from '../../../model/fault.ts';
import { list, oneOf, open, orNull, type Shaped, ShapeError, text, whole } from '../../../model/shape.ts';
import { branchName, type StoryStatus, storyId, storyStatuses } from './message.ts';

export const taskFolders = ['.carrel/tasks', '.aimi/tasks'] as const;
export const taskFileNamePattern = /^\d{4}-\d{2}-\d{2}-[A-Za-z0-9][A-Za-z0-9._-]{0,149}-tasks\.json$/;
/** A file of this size takes less than 50 ms to read. */
export const maxTaskFileBytes = 1024 ** 2;
export const defaultConcurrency = 4;
/** A longer list does not help, and a file can be made to have very many. */
const maxCircles = 20;

const time = text({
  max: 40,
  pattern: /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/,
  says: 'a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z',
});

const metadata = open(
  {
    title: text({ min: 1, max: 200 }),
    type: oneOf('feat', 'ref', 'bug', 'chore'),
    branchName,
    createdAt: time,
  },
  {
    planPath: orNull(text({ max: 4096 })),
    brainstormPath: orNull(text({ max: 4096 })),
    maxConcurrency: whole(1, 64),
  },
);

const story = open(
  {
    id: storyId,
    title: text({ min: 1, max: 200 }),
    description: text({ max: 500 }),
    acceptanceCriteria: list(text({ max: 300 }), 200),
    priority: whole(0, 1_000_000),
    status: oneOf(...storyStatuses),
    dependsOn: list(storyId, 1000),
  },
  { notes: orNull(text({ max: 10_000 })) },
);

const file = open({
  schemaVersion: oneOf('3.0'),
  metadata,
  userStories: (value, path) => list((one) => one, 1000)(value, path),
});

export type Story = Shaped<typeof story>;
export type TaskMetadata = Shaped<typeof metadata>;

export interface TaskFile {
  readonly schemaVersion: '3.0';
  readonly metadata: TaskMetadata;
  readonly userStories: readonly Story[];
}

export type TaskCheck = { readonly file: TaskFile } | { readonly problems: readonly ShapeError[] };

/** The task file in a parsed JSON value, or all of its problems: first of its form, then of the dependencies. */
export function checkTaskFile(value: unknown): TaskCheck {
  const outer = attempt(() => file(value, []));
  if (outer instanceof ShapeError) return { problems: [outer] };
  const stories = outer.userStories.map((one, index) => attempt(() => story(one, ['userStories', index])));
  const invalid = stories.filter((one) => one instanceof ShapeError);
  if (invalid.length > 0) return { problems: invalid };
  const sound = { ...outer, userStories: stories as readonly Story[] };
  const problems = graphProblems(sound.userStories);
  return problems.length > 0 ? { problems } : { file: sound };
}

function attempt<T>(work: () => T): T | ShapeError {
  try {
    return work();
  } catch (error) {
    if (error instanceof ShapeError) return error;
    throw error;
  }
}

function graphProblems(stories: readonly Story[]): ShapeError[] {
  const problems = [...repeated(stories, 'id'), ...repeated(stories, 'priority'), ...unknown(stories)];
  return problems.length > 0 ? problems : circles(stories);
}

function repeated(stories: readonly Story[], field: 'id' | 'priority'): ShapeError[] {
  return stories.flatMap((one, index) => {
    const first = stories.findIndex((other) => other[field] === one[field]);
    if (first === index) return [];
    return [
      new ShapeError(['userStories', index, field], `${one[field]} is also the ${field} of userStories[${first}]`),
    ];
  });
}

function unknown(stories: readonly Story[]): ShapeError[] {
  const known = new Set(stories.map(({ id }) => id));
  return stories.flatMap((one, index) =>
    one.dependsOn.flatMap((id, position) => {
      const path = ['userStories', index, 'dependsOn', position];
      if (id === one.id) return [new ShapeError(path, `${id} depends on itself`)];
      return known.has(id) ? [] : [new ShapeError(path, `there is no story ${id}`)];
    }),
  );
}

/** Each circle in the dependencies, beginning with the story that comes first in the file. */
function circles(stories: readonly Story[]): ShapeError[] {
  const position = new Map(stories.map(({ id }, index) => [id, index]));
  const walked = new Set<string>();
  const above = new Set<string>();
  const found: ShapeError[] = [];
  for (const { id } of stories) walk(id);
  return found;

  function walk(id: string): void {
    if (walked.has(id) || found.length >= maxCircles) return;
    walked.add(id);
    above.add(id);
    for (const next of stories[position.get(id)!]!.dependsOn) {
      if (found.length >= maxCircles) break;
      if (above.has(next)) found.push(circle([...above].slice([...above].indexOf(next))));
      else walk(next);
    }
    above.delete(id);
  }

  function circle(ids: readonly string[]): ShapeError {
    const first = ids.reduce((least, id, index) => (position.get(id)! < position.get(ids[least]!)! ? index : least), 0);
    const turned = [...ids.slice(first), ...ids.slice(0, first)];
    const path = ['userStories', position.get(turned[0]!)!, 'dependsOn'];
    return new ShapeError(path, `circular: ${[...turned, turned[0]].join(' → ')}`);
  }
}

const legal: { readonly [status in StoryStatus]: readonly StoryStatus[] } = {
  pending: ['in_progress', 'skipped'],
  in_progress: ['completed', 'failed'],
  completed: [],
  failed: ['in_progress'],
  skipped: [],
};

/** Throws unless a story may change from one status to the other. */
export function checkStoryTransition(id: string, from: StoryStatus, to: StoryStatus): void {
  if (legal[from].includes(to)) return;
  const next = legal[from].length === 0 ? 'never changes' : `can become ${legal[from].join(' or ')}`;
  throw new Fault('conflict', `story ${id} is ${from} and cannot become ${to}`, {
    hint: `A story that is ${from} ${next}.`,
  });
}

/** Whether a story can get from one status to the other by one or more legal steps. */
export function canReach(from: StoryStatus, to: StoryStatus): boolean {
  const reached = new Set(legal[from]);
  for (const one of reached) for (const next of legal[one]) reached.add(next);
  return reached.has(to) && from !== to;
}

type Node = Pick<Story, 'id' | 'status' | 'dependsOn'>;

/** Pending stories without open dependencies, the most urgent first. */
export function readyStories<S extends Story>(stories: readonly S[]): readonly S[] {
  const ready = stories.filter((one) => one.status === 'pending' && openDependencies(one, stories).length === 0);
  return ready.sort((a, b) => a.priority - b.priority);
}

/** The ids of open dependencies of a story. */
export function openDependencies(story: Node, stories: readonly Node[]): readonly string[] {
  const free = new Set(
    stories.filter(({ status }) => status === 'completed' || status === 'skipped').map(({ id }) => id),
  );
  return story.dependsOn.filter((id) => !free.has(id));
}

/** A story and all pending stories that depend on it: they are skipped together. */
export function skippedWith(id: string, stories: readonly Node[]): readonly string[] {
  const behind = new Map<string, string[]>(stories.map((one) => [one.id, []]));
  for (const { id: dependent, dependsOn } of stories.filter(({ status }) => status === 'pending')) {
    for (const one of dependsOn) behind.get(one)?.push(dependent);
  }
  const skipped = new Set([id]);
  for (const one of skipped) for (const dependent of behind.get(one) ?? []) skipped.add(dependent);
  return [...skipped];
}

/** Stories in progress without a worker. */
export function orphanedStories(stories: readonly Node[], worked: ReadonlySet<string>): readonly string[] {
  return stories.filter(({ id, status }) => status === 'in_progress' && !worked.has(id)).map(({ id }) => id);
}

export interface StoryProgress {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly inProgress: number;
  readonly pending: number;
  readonly skipped: number;
}

export function progressOf(stories: readonly Pick<Story, 'status'>[]): StoryProgress {
  const count = (status: StoryStatus) => stories.filter((one) => one.status === status).length;
  return {
    total: stories.length,
    completed: count('completed'),
    failed: count('failed'),
    inProgress: count('in_progress'),
    pending: count('pending'),
    skipped: count('skipped'),
  };
}

export const noProgress: StoryProgress = progressOf([]);
