/** Takes the steps after which the machine has what a carrel.yaml declares. */

import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import type { FleetFilePath } from '../../../client/project-file/file.ts';
import { askTrust } from '../../../client/project-file/trust.ts';
import { catchSignals } from '../../../client/signals.ts';
import { canAsk, confirm } from '../../../client/stream/confirm.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import type { FleetPlan, FleetStep } from '../api/fleet.ts';
import { Fleet } from './fleet.ts';
import { type ActContext, act } from './fleet-act.ts';
import { endedAtOnce } from './fleet-ended-at-once.ts';
import { FleetProgress } from './fleet-progress.ts';
import { doneLine, forecast, stepLine, summary } from './fleet-report.ts';

export interface FleetOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

type Removal = Extract<FleetStep, { act: 'replace' | 'remove' }>;

/** How many times a step may be out of date before the command fails. */
const attempts = 3;

export async function bringUp(context: Context, file: FleetFilePath, options: FleetOptions): Promise<number> {
  const { out } = context;
  const client = connect(context);
  const fleet = new Fleet(client, file);
  const plan = await during(out, 'comparing the file with this machine', fleet.plan());
  if (options.dryRun) {
    if (context.json) out.document(plan);
    else out.print(...forecast(plan));
    return 0;
  }
  await requireTrust(context, client, file, plan.untrusted);
  refuseLoss(plan.steps);
  await agree(context, plan, options.yes === true);
  await takeAll(context, fleet, plan, { client, out });
  return 0;
}

/** Asks first about what the file gives to sandboxes beyond what the user already trusts. */
async function requireTrust(
  { out }: Context,
  client: Client,
  file: FleetFilePath,
  untrusted: readonly string[],
): Promise<void> {
  if (untrusted.length === 0) return;
  if (canAsk(out)) return askTrust(out, client, file);
  const lines = untrusted.map((grant) => `+ ${grant}`);
  throw new Fault('denied', `${file.shown} gives sandboxes what was not trusted yet:\n${lines.join('\n')}`, {
    hint: `Look at it, then: carrel trust ${file.shown}`,
    data: { trust: { file: file.path, added: untrusted } },
  });
}

/** A failed step holds back only the steps that need it. The steps that were taken are always printed. */
async function takeAll({ out, json }: Context, fleet: Fleet, plan: FleetPlan, acting: ActContext): Promise<void> {
  const progress = new FleetProgress(plan.steps);
  const { interrupted, release } = interruption();
  try {
    for (const step of plan.steps) {
      if (progress.waitsForFailed(step)) continue;
      const work = fleet.blame(step, settle(acting, fleet, step, plan));
      await progress.record(step, during(out, stepLine(step), Promise.race([work, interrupted])));
    }
    const look = Promise.race([endedAtOnce(acting.client, progress.done), interrupted]);
    for (const [step, fault] of await during(out, 'checking that the sandboxes keep running', look))
      progress.fail(step, fault);
  } finally {
    release();
    if (!json) out.print(...progress.done.map(doneLine));
    if (json)
      out.document({ ...progressView(progress), fleet: plan.fleet, same: plan.same, completed: plan.completed });
  }
  const failure = progress.failure();
  if (failure !== null) throw failure;
  out.say(summary(plan, progress.done));
}

function progressView({ done, left, failures }: FleetProgress) {
  const failed = failures.map(([step, { code, message }]) => ({ step, code, message }));
  return { done, left, failed };
}

function interruption(): { interrupted: Promise<never>; release: () => void } {
  let release = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    const fault = new Fault('cancelled', 'interrupted', { hint: 'carrel up goes on from here.' });
    release = catchSignals(() => reject(fault));
  });
  interrupted.catch(() => {});
  return { interrupted, release };
}

/**
 * Takes one step, also while other commands run. A refusal may mean that the step is out of date: then a new plan says
 * what is left to do, and only sandboxes are removed whose removal the user agreed to. Resolves to whether this command
 * took the step.
 */
async function settle(acting: ActContext, fleet: Fleet, planned: FleetStep, agreed: FleetPlan): Promise<boolean> {
  let step = planned;
  for (let left = attempts; ; left--) {
    try {
      await act(acting, step);
      return true;
    } catch (error) {
      if (left === 0 || !(isFault(error, 'conflict') || isFault(error, 'not_found'))) throw error;
      const next = (await fleet.plan()).steps.find((one) => keyOf(one) === keyOf(planned));
      if (next === undefined) return false;
      refuseLoss([next]);
      if (isRemoval(next) && !agreed.steps.some((one) => isRemoval(one) && one.id === next.id)) throw error;
      step = next;
    }
  }
}

/** Steps with the same key are about the same thing, so that a step of a new plan replaces the old one. */
function keyOf(step: FleetStep): string {
  if (step.act === 'init-volumes' || step.act === 'init-rooms') return step.act;
  if (step.act === 'watch' || step.act === 'unwatch') return `watcher ${step.name} of ${step.room}`;
  return step.act === 'network' ? `network of ${step.name}` : `sandbox ${step.name}`;
}

function isRemoval(step: FleetStep): step is Removal {
  return step.act === 'replace' || step.act === 'remove';
}

/** Refuses before any step what `rm` would refuse: removals that lose unapplied work. */
function refuseLoss(steps: readonly FleetStep[]): void {
  const losing = steps.filter(isRemoval).filter(({ unapplied }) => unapplied !== null);
  if (losing.length === 0) return;
  const names = losing.map(({ name }) => name);
  const [what, take] = losing.every(({ unapplied }) => unapplied === 'commits')
    ? ['commits that were not fetched', 'Fetch']
    : ['changes that were not applied', 'Take'];
  throw new Fault(
    'conflict',
    losing.map(({ name, act: verb }) => `${name} would be ${verb}d, and has ${what}`).join('\n'),
    {
      hint: names
        .map((name) => `${take} them with: carrel apply ${name} — or give them up: carrel rm --force ${name}`)
        .join('\n'),
      data: { names },
    },
  );
}

async function agree({ out }: Context, plan: FleetPlan, yes: boolean): Promise<void> {
  const removals = plan.steps.filter(isRemoval);
  if (removals.length === 0 || yes) return;
  for (const line of forecast(plan)) out.say(line);
  const what = removalText(removals);
  if (!canAsk(out)) {
    throw new Fault('invalid', `this would ${what}, and stdin is not a terminal to ask at`, {
      hint: 'Look with: carrel up --dry-run — then add --yes.',
      data: { steps: plan.steps },
    });
  }
  if (!(await confirm(`This will ${what}, with home and data. Go on?`)))
    throw new Fault('cancelled', 'nothing was done');
}

/** `remove a, b and replace c` */
function removalText(removals: readonly Removal[]): string {
  const parts = (['remove', 'replace'] as const).map((verb) => {
    const names = removals.filter((step) => step.act === verb).map(({ name }) => name);
    return names.length === 0 ? null : `${verb} ${names.join(', ')}`;
  });
  return parts.filter((part) => part !== null).join(' and ');
}
