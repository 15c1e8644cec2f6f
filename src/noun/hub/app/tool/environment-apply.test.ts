import { describe, expect, it } from 'vitest';
import type { Project } from '../../../project/model/project.ts';
import type { ApplyRequest, ApplyView, PlannedView } from '../../../workspace/api.ts';
import type { ClientQuestion, Consent, ToolCall } from '../../hub.ts';
import { environmentApplyTools } from './environment-apply.ts';
import type { ToolScope } from './tool.ts';

const shop: Project = { id: 'shop', folder: '/p/shop', mode: 'bind', test: null, createdAt: '' };

function planned(path: string, gates: PlannedView['gates'] = []): PlannedView {
  const outcome = gates.length > 0 ? 'gated' : 'take';
  return { path, sandbox: 'shop-a', change: 'added', outcome, hardLink: null, gates, note: null, conflict: null };
}

/** Applies what it plans; the plan is named after the kinds that are allowed. */
class Applies {
  readonly done: ApplyRequest[] = [];
  readonly #paths: PlannedView[];

  constructor(paths: PlannedView[]) {
    this.#paths = paths;
  }

  async apply(_project: Project, request: ApplyRequest): Promise<ApplyView> {
    const isBlocked = this.#paths.some(({ gates }) => gates.some((kind) => !request.allow?.includes(kind)));
    if (!request.dryRun) this.done.push(request);
    return {
      ...{ apply: request.dryRun || isBlocked ? null : 'a1', blocked: isBlocked ? 'gated' : null },
      ...{ paths: this.#paths, plan: `plan ${request.allow}`, hiddenInGit: 0, commits: [], warnings: [] },
      ignored: { files: 0, more: false, places: [] },
      ...{ branch: null, always: [] },
    };
  }
}

interface Situation {
  readonly paths: PlannedView[];
  readonly mayApply?: boolean;
  /** Null: the client cannot ask. */
  readonly answer?: Consent | null;
}

async function call({ paths, mayApply = false, answer = null }: Situation, more: object = {}) {
  const environments = new Applies(paths);
  const questions: ClientQuestion[] = [];
  const scope = { find: () => shop, environments, mayApply } as unknown as ToolScope;
  const ask = async (question: ClientQuestion): Promise<Consent> => {
    questions.push(question);
    return answer!;
  };
  const how: ToolCall = {
    ...{ signal: new AbortController().signal, report: () => {} },
    ask: answer === null ? null : ask,
  };
  const input = { project: 'shop', environment: 'shop-a', dry_run: false, ...more };
  const result = environmentApplyTools[0]!.run(input as never, scope, how).catch((error: unknown) => error);
  return { result: (await result) as object, done: environments.done, questions };
}

const plain = [planned('a.ts')];
const gated = [planned('a.ts'), planned('run.sh', ['executable'])];

describe('environment_apply', () => {
  it('applies the plan that the person accepted, and no other', async () => {
    const { result, done, questions } = await call({ paths: plain, answer: 'accepted' });
    expect(result).toMatchObject({ applied: true, blocked: null });
    expect(done).toMatchObject([{ names: ['shop-a'], expect: 'plan ' }]);
    expect(questions[0]).toMatchObject({ message: expect.stringContaining('added "a.ts"'), tick: null });
  });

  it.each(['declined', 'dismissed'] as const)('applies nothing when the person %s', async (answer) => {
    const { result, done } = await call({ paths: plain, answer, mayApply: false });
    expect(result).toMatchObject({ code: 'denied' });
    expect(done).toEqual([]);
  });

  it('is refused if the client cannot ask and the caller has no group apply', async () => {
    const { result, done } = await call({ paths: plain });
    expect(result).toMatchObject({ code: 'denied', hint: expect.stringContaining('carrel apply shop-a') });
    expect(done).toEqual([]);
  });

  it('applies changes without gates for a caller with the group apply, without asking', async () => {
    const { result, done, questions } = await call({ paths: plain, mayApply: true, answer: 'declined' });
    expect(result).toMatchObject({ applied: true });
    expect([done.length, questions]).toEqual([1, []]);
  });

  it('never applies gated changes without asking', async () => {
    const { result, done } = await call({ paths: gated, mayApply: true });
    expect(result).toMatchObject({ applied: false, blocked: 'gated' });
    expect(done).toEqual([]);
  });

  it('asks about gated changes of kinds that the user always allows', async () => {
    const allowed = [{ ...planned('run.sh', ['executable']), outcome: 'take' as const }];
    const { result, done } = await call({ paths: allowed, mayApply: true });
    expect(result).toMatchObject({ applied: false, blocked: 'gated' });
    expect(done).toEqual([]);
  });

  it('names gated changes first and allows their kinds after the person agreed', async () => {
    const { done, questions } = await call({ paths: gated, answer: 'accepted' });
    expect(questions[0]!.message).toMatch(/gated.*\nadded "run.sh" \[gated: executable\]\nadded "a.ts"/);
    expect(questions[0]!.tick).not.toBeNull();
    expect(done).toMatchObject([{ allow: ['executable'], expect: 'plan executable' }]);
  });

  it('shows names of files safely, and counts those that are not shown', async () => {
    const many = Array.from({ length: 60 }, (_, index) => planned(`f${index}\n\u202e`));
    const { questions } = await call({ paths: many, answer: 'declined' });
    expect(questions[0]!.message.split('\n')).toHaveLength(42);
    expect(questions[0]!.message).toContain('… and 20 more');
    expect(questions[0]!.message).not.toContain('\u202e');
  });

  it('shows the message of a commit, and asks about that message only', async () => {
    const questionFor = async (message: string) =>
      (await call({ paths: plain, answer: 'accepted' }, { branch: 'b', message })).questions[0]!;
    const [one, other] = [await questionFor('one'), await questionFor('other')];
    expect(one.message).toContain('The message of the commit: "one"');
    expect(one.about).not.toBe(other.about);
  });

  it('changes nothing and asks nothing with dry_run', async () => {
    const { result, done, questions } = await call({ paths: gated, answer: 'accepted' }, { dry_run: true });
    expect(result).toMatchObject({ applied: false, blocked: 'gated', dry_run: true });
    expect([done, questions]).toEqual([[], []]);
  });

  it('refuses a message without a branch and names the field', async () => {
    const { result } = await call({ paths: plain }, { message: 'm' });
    expect(result).toMatchObject({ code: 'invalid', data: { field: 'message' } });
  });
});
