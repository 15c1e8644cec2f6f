/**
 * The adapter's record of its work, on disk inside the sandbox: `/.data/carrel/outcome.json`, replaced as a whole at
 * each change and before the message about it is sent. Work counts as completed if `completion` says so here or in a
 * message.
 *
 * The agent could have written the record: it contains claims of the sandbox, and is checked like a message.
 */
import { object, oneOf, orNull, type Shaped, text } from '../../../model/shape.ts';
import { byStory, completion, storyId, storyStatuses, swarmId } from './message.ts';

export const maxOutcomeBytes = 4 * 1024 ** 2;
export const maxKeptOutput = 500;

const commit = text({ pattern: /^[0-9a-f]{40}([0-9a-f]{24})?$/, says: 'the id of a commit' });

const storyRecord = object({
  status: oneOf(...storyStatuses),
  output: text({ max: maxKeptOutput }),
  /** Its commit on the branch, if it is completed. */
  commit: orNull(commit),
});

const outcome = object({
  version: oneOf('1.0'),
  swarmId,
  taskFilePath: text({ max: 4096 }),
  branchName: text({ max: 200 }),
  /** The tip of the branch when the work began, and its tip now; null: there is none yet. */
  base: orNull(commit),
  tip: orNull(commit),
  /** A commit that is about to become the tip. */
  landing: orNull(object({ storyId, commit })),
  stories: byStory(storyRecord),
  completion: orNull(completion),
});

export type Outcome = Shaped<typeof outcome>;
export type StoryRecord = Shaped<typeof storyRecord>;

export function checkOutcome(value: unknown): Outcome {
  return outcome(value, []);
}
