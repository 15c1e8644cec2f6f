/** Tools that write the changes of environments to the project. They ask the person, and never apply a gated change without asking. */
import { z } from 'zod';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { Project } from '../../../project/model/project.ts';
import type { ApplyRequest, ApplyView, PlannedView } from '../../../workspace/api.ts';
import type { ToolCall } from '../../hub.ts';
import { dryRun, environment, type HubTool, inProject, path, project, type ToolScope, tool } from './tool.ts';

const how = {
  branch: z.string().min(1).max(255).optional().describe('commit on this branch instead of changing files'),
  message: z.string().min(1).max(65_536).optional().describe('message of that commit'),
  dry_run: dryRun,
};
const output = z.object({
  applied: z.boolean(),
  blocked: z.enum(['conflict', 'gated']).nullable(),
  paths: z.array(
    z.object({
      path: z.string(),
      environment: z.string(),
      change: z.string(),
      outcome: z.string(),
      gates: z.array(z.string()),
      conflict: z.string().nullable(),
    }),
  ),
  omitted: z.int().describe('more paths than are listed'),
  commit: z.string().nullable().describe('on the branch'),
  fetched: z.array(z.string()).describe('refs with commits of agents'),
  dry_run: z.boolean(),
});
type Result = z.output<typeof output>;

/** The most paths in an answer, and the most lines in a question. */
const maxPaths = 500;
const maxLines = 40;

export const environmentApplyTools: readonly HubTool[] = [
  tool({
    name: 'environment_apply',
    group: 'environment',
    description: 'Write the changes of an environment to the project, all or none. The person is asked.',
    changes: true,
    destroys: true,
    input: z.strictObject({ project, environment, paths: z.array(path).min(1).max(1000).optional(), ...how }),
    output,
    run: async ({ project: id, environment: which, paths, ...rest }, scope, call) => {
      const only = paths === undefined ? {} : { paths: paths.map((one) => inProject(scope.find(id), one)) };
      return apply(scope.find(id), { names: [which], ...only, ...orderOf(rest) }, { scope, call });
    },
  }),
  tool({
    name: 'environment_merge',
    group: 'environment',
    description: 'Merge the changes of several environments into the project, all or none. The person is asked.',
    changes: true,
    destroys: true,
    input: z.strictObject({ project, environments: z.array(environment).min(2).max(20), ...how }),
    output,
    run: async ({ project: id, environments, ...rest }, scope, call) =>
      apply(scope.find(id), { names: environments, ...orderOf(rest) }, { scope, call }),
  }),
];

type ApplyInput = {
  readonly branch?: string | undefined;
  readonly message?: string | undefined;
  readonly dry_run: boolean;
};

function orderOf({ branch, message, dry_run }: ApplyInput): Omit<ApplyRequest, 'names'> {
  if (message !== undefined && branch === undefined) {
    throw new Fault('invalid', 'message is for the commit on a branch, and no branch is named', {
      data: { field: 'message' },
    });
  }
  return { branch, message, dryRun: dry_run };
}

interface Context {
  readonly scope: ToolScope;
  readonly call: ToolCall;
}

async function apply(found: Project, order: ApplyRequest, { scope, call }: Context): Promise<Result> {
  const { dryRun: isDry = false, ...request } = order;
  const planOf = (allow: ApplyRequest['allow']) => scope.environments.apply(found, { ...request, allow, dryRun: true });
  call.report(`comparing ${request.names.join(', ')} with ${found.id}`);
  const plan = await planOf([]);
  if (isDry || plan.blocked === 'conflict' || isEmpty(plan)) return resultOf(plan, isDry);
  const kinds = [...new Set(plan.paths.filter(isGated).flatMap(({ gates }) => gates))];
  const shown = kinds.length === 0 ? plan : await planOf(kinds);
  const agreed = await isAgreed(found, request, { plan, shown, scope, call });
  if (!agreed) return { ...resultOf(plan, false), blocked: 'gated' };
  call.signal.throwIfAborted();
  call.report(`applying ${plan.paths.length} changes`);
  return resultOf(await scope.environments.apply(found, { ...request, allow: kinds, expect: shown.plan! }), false);
}

interface Shown extends Context {
  readonly plan: ApplyView;
  /** The plan with the gated changes allowed. */
  readonly shown: ApplyView;
}

/** False: there are gated changes, and the client cannot ask a person about them. */
async function isAgreed(found: Project, request: ApplyRequest, { plan, shown, scope, call }: Shown): Promise<boolean> {
  const hasGated = plan.paths.some(isGated);
  if (scope.mayApply && !hasGated) return true;
  if (call.ask === null) {
    if (scope.mayApply) return false;
    throw new Fault('denied', 'the person has to agree to this apply, and this client cannot ask them', {
      hint: `The person applies it with: ${commandOf(request)} — or allows the group apply (carrel hub serve --tools …,apply)`,
      data: { scope: 'apply' },
    });
  }
  const { branch = '', message = '', names } = request;
  const about = JSON.stringify([found.id, branch, message, names, shown.plan]);
  const tick = hasGated ? 'Also the gated changes, which can run programs on this machine' : null;
  const consent = await call.ask({ message: questionOf(found, request, plan), about, tick });
  if (consent === 'accepted') return true;
  throw new Fault(
    'denied',
    consent === 'declined' ? 'the person declined the apply' : 'the person did not answer whether to apply',
  );
}

/** A plan with hidden commits is not empty: commits of the agent are fetched, too. */
function isEmpty({ paths, hiddenInGit }: ApplyView): boolean {
  return paths.length === 0 && hiddenInGit === 0;
}

function commandOf({ names }: ApplyRequest): string {
  return names.length === 1 ? `carrel apply ${names[0]}` : `carrel merge ${names.join(' ')}`;
}

/** Kinds that the user always allows are gated, too: that permission is for applies by the user. */
function isGated({ gates, outcome }: PlannedView): boolean {
  return gates.length > 0 && outcome !== 'same';
}

/** Gated changes first, so that none of them is hidden behind many others. */
function questionOf({ id, folder }: Project, { names, branch, message }: ApplyRequest, plan: ApplyView): string {
  const gated = plan.paths.filter(isGated);
  const others = plan.paths.filter((one) => !isGated(one));
  const lines = [...gated, ...others].map(lineOf);
  const where = branch === undefined ? folder : `branch ${printable(branch)} of ${folder}`;
  return [
    `Apply ${lines.length} changes of ${names.join(', ')} to ${id} (${where})?`,
    ...(message === undefined ? [] : [`The message of the commit: ${printable(message, 200)}`]),
    ...(gated.length === 0 ? [] : [`${gated.length} of them are gated: they can run programs on this machine.`]),
    ...lines.slice(0, maxLines),
    ...(lines.length > maxLines ? [`… and ${lines.length - maxLines} more`] : []),
    ...(plan.hiddenInGit === 0 ? [] : ['Commits of the agent are fetched to refs/carrel.']),
  ].join('\n');
}

function lineOf({ path: at, change, gates, note }: PlannedView): string {
  const marks =
    gates.length > 0 ? ` [gated: ${gates.join(', ')}]${note === null ? '' : ` ${printable(note, 200)}`}` : '';
  return `${change} ${printable(at, 200)}${marks}`;
}

function resultOf({ apply: id, branch, blocked, paths, commits }: ApplyView, dry_run: boolean): Result {
  return {
    ...{ applied: id !== null || branch !== null, blocked, dry_run },
    paths: paths.slice(0, maxPaths).map(({ path: at, sandbox, change, outcome, gates, conflict }) => {
      return { path: at, environment: sandbox, change, outcome, gates, conflict: conflict?.reason ?? null };
    }),
    omitted: Math.max(0, paths.length - maxPaths),
    commit: branch?.commit ?? null,
    fetched: commits.map(({ ref }) => ref),
  };
}
