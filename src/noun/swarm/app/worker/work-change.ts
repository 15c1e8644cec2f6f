/**
 * How messages, records and commits change the recorded work of a container. An adapter can claim anything: a story
 * changes only along the transitions that task files allow.
 */

import { clip } from '../../../../model/shape.ts';
import { errorText, type MessageFromAdapter, maxErrors, maxErrorText, type StoryStatus } from '../../model/message.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { ContainerWork, SwarmContainer, WorkedStory } from '../../model/swarm.ts';
import { canReach, progressOf } from '../../model/task.ts';
import type { Fetched } from './container-actions.ts';

const maxOutputLength = 300;
const commitLost = 'its commit did not reach the host';

type Progress = Pick<ContainerWork, 'stories' | 'errors' | 'completion'>;

/** Returns the same object when nothing changes. */
export function withMessage<T extends Progress>(known: T, message: MessageFromAdapter): T {
  if (message.type === 'completion')
    return known.completion === null ? { ...known, completion: message.payload } : known;
  if (message.type === 'error') {
    const { code, message: text } = message.payload;
    return withError(known, errorText(code, text));
  }
  const { storyId, status, output } = message.payload;
  return withStory(known, storyId, status, output);
}

/** Adds from the adapter's record on disk what was lost with a broken connection. */
export function withOutcome<T extends Progress>(known: T, { stories, completion }: Outcome): T {
  const moved = Object.entries(stories).reduce(
    (all, [id, { status, output }]) => withStory(all, id, status, output),
    known,
  );
  return completion === null || moved.completion !== null ? moved : { ...moved, completion };
}

function withStory<T extends Progress>(known: T, id: string, status: StoryStatus, output: string): T {
  const before = known.stories[id];
  if (!before || !Object.hasOwn(known.stories, id)) return known;
  if (before.status !== status && !canReach(before.status, status)) return known;
  const kept = clip(output, maxOutputLength);
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

export function withFetched<T extends Pick<ContainerWork, 'tips' | 'safe'>>(known: T, { tips, stories }: Fetched): T {
  return { ...known, tips, safe: [...new Set([...known.safe, ...stories])] };
}

/**
 * Called when the worker has ended: a story in progress has failed, and so has one whose commit is only in the sandbox.
 */
export function withSettledStories<T extends Pick<ContainerWork, 'stories' | 'safe'>>(known: T): T {
  const lost = unsafeStories(known);
  const stories = Object.entries(known.stories).map(([id, story]) => {
    if (lost.includes(id)) return [id, { status: 'failed' as const, output: commitLost }];
    return [id, story.status === 'in_progress' ? { ...story, status: 'failed' as const } : story];
  });
  return { ...known, stories: Object.fromEntries(stories) };
}

/** Ids of completed stories whose commits are only in the sandbox. */
export function unsafeStories({ stories, safe }: Pick<ContainerWork, 'stories' | 'safe'>): string[] {
  return Object.keys(stories).filter((id) => stories[id]!.status === 'completed' && !safe.includes(id));
}

type Judged = Pick<ContainerWork, 'completion' | 'stories' | 'safe'>;

/** Why a completion that claims success is wrong; null: it is right, or claims no success. */
export function completionFlaw({ completion, stories, safe }: Judged): string | null {
  if (completion?.status !== 'completed') return null;
  const unsafe = unsafeStories({ stories, safe });
  if (unsafe.length > 0) return `lost: commits did not reach the host: ${unsafe.join(', ')}`;
  const open = openStories({ stories });
  return open.length === 0 ? null : `no_completion: open are ${open.join(', ')}`;
}

/** Ids of stories that are neither completed nor skipped. */
function openStories({ stories }: Pick<ContainerWork, 'stories'>): string[] {
  return Object.entries(stories).flatMap(([id, { status }]) =>
    status === 'completed' || status === 'skipped' ? [] : [id],
  );
}
