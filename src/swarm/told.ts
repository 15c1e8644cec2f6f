/** What an adapter tells, as a change to what is known of its container. It claims what it likes; a story moves only where it may. */
import type { Outcome } from '../model/outcome.ts';
import { clip } from '../model/shape.ts';
import type { ContainerWork, SwarmContainer, WorkedStory } from '../model/swarm.ts';
import {
  type Completion,
  errorText,
  type MessageFromAdapter,
  maxErrors,
  maxErrorText,
  type StoryStatus,
} from '../model/swarm-message.ts';
import { canReach, progressOf } from '../model/task.ts';
import type { Fetched } from './surface.ts';

/** Enough to see what it is at. */
const maxKept = 300;

type Told = Pick<ContainerWork, 'stories' | 'errors' | 'completion'>;

/** The same object when nothing is different. */
export function told<T extends Told>(known: T, message: MessageFromAdapter): T {
  if (message.type === 'completion')
    return known.completion === null ? { ...known, completion: message.payload } : known;
  if (message.type === 'error') {
    const { code, message: text } = message.payload;
    return withError(known, errorText(code, text));
  }
  const { storyId, status, output } = message.payload;
  return withStory(known, storyId, status, output);
}

/** From the record on disk: what a lost line did not tell. */
export function toldByRecord<T extends Told>(known: T, { stories, completion }: Outcome): T {
  const moved = Object.entries(stories).reduce(
    (all, [id, { status, output }]) => withStory(all, id, status, output),
    known,
  );
  return completion === null || moved.completion !== null ? moved : { ...moved, completion };
}

function withStory<T extends Told>(known: T, id: string, status: StoryStatus, output: string): T {
  const before = known.stories[id];
  if (!before || !Object.hasOwn(known.stories, id)) return known;
  if (before.status !== status && !canReach(before.status, status)) return known;
  const kept = clip(output, maxKept);
  if (before.status === status && before.output === kept) return known;
  return { ...known, stories: { ...known.stories, [id]: { status, output: kept } } };
}

export function withError<T extends Pick<ContainerWork, 'errors'>>(known: T, text: string): T {
  const error = clip(text, maxErrorText);
  if (known.errors.includes(error) || known.errors.length >= maxErrors) return known;
  return { ...known, errors: [...known.errors, error] };
}

export function changeOf(container: SwarmContainer, work: ContainerWork): Partial<SwarmContainer> {
  const stories: readonly WorkedStory[] = Object.values(work.stories);
  const { completion } = work;
  return { work, storyProgress: progressOf(stories), prUrl: completion?.prUrl ?? container.prUrl };
}

/** Commits came to the host. */
export function withFetched<T extends Pick<ContainerWork, 'tips' | 'safe'>>(known: T, { tips, stories }: Fetched): T {
  return { ...known, tips, safe: [...new Set([...known.safe, ...stories])] };
}

/** Ids of stories that are done, but only in the sandbox. */
export function unsafeStories({ stories, safe }: Pick<ContainerWork, 'stories' | 'safe'>): string[] {
  return Object.keys(stories).filter((id) => stories[id]!.status === 'completed' && !safe.includes(id));
}

/** Ids of stories that are neither completed nor skipped. */
export function openStories({ stories }: Pick<ContainerWork, 'stories'>): string[] {
  return Object.entries(stories).flatMap(([id, { status }]) =>
    status === 'completed' || status === 'skipped' ? [] : [id],
  );
}

/** A completion that claims more than its stories say is none. */
export function checkedCompletion({
  completion,
  stories,
}: Pick<ContainerWork, 'completion' | 'stories'>): Completion | null {
  if (completion?.status !== 'completed') return completion;
  return openStories({ stories }).length === 0 ? completion : null;
}
