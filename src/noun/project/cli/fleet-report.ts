/** Steps as text for a person. */

import { counted } from '../../../client/output/count.ts';
import { table } from '../../../client/output/table.ts';
import { cut, plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { FleetPlan, FleetStep } from '../api/fleet.ts';

type Act = FleetStep['act'];

const verbs: { readonly [act in Act]: readonly [future: string, past: string] } = {
  'init-volumes': ['make', 'made'],
  'init-rooms': ['make', 'made'],
  watch: ['add', 'added'],
  unwatch: ['drop', 'dropped'],
  create: ['create', 'created'],
  replace: ['replace', 'replaced'],
  network: ['change', 'changed'],
  start: ['start', 'started'],
  remove: ['remove', 'removed'],
};

const valueColumns = 40;

/** One line for each step of the plan. */
export function forecast({ fleet, steps, same }: FleetPlan): string[] {
  if (steps.length === 0) return [nothingToDo(fleet, same.length)];
  return [
    `fleet ${plain(fleet)}`,
    ...table(steps.map((step) => ['', verbs[step.act][0], subject(step), detail(step)])),
    ...(same.length === 0 ? [] : [`  ${asDeclared(same.length)}`]),
  ];
}

/** The line for a step that is under way. */
export function stepLine(step: FleetStep): string {
  return `${verbs[step.act][0]} ${subject(step)}`;
}

/** The line for a step that was taken. */
export function doneLine(step: FleetStep): string {
  return `${verbs[step.act][1]} ${subject(step)}`;
}

export function summary({ fleet, same }: FleetPlan, done: readonly FleetStep[]): string {
  if (done.length === 0) return nothingToDo(fleet, same.length);
  const counts = (Object.keys(verbs) as Act[])
    .map((act) => ({ act, count: done.filter((step) => step.act === act).length }))
    .filter(({ act, count }) => count > 0 && verbs[act] !== verbs['init-volumes'] && verbs[act] !== verbs['init-rooms'])
    .map(({ act, count }) => `${isWatching(act) ? counted(count, 'watcher') : count} ${verbs[act][1]}`);
  const parts = [
    ...(counts.length === 0 ? [] : [counts.join(', ')]),
    ...(same.length === 0 ? [] : [asDeclared(same.length)]),
  ];
  return `fleet ${plain(fleet)}: ${parts.join('; ') || 'done'}`;
}

function isWatching(act: Act): boolean {
  return act === 'watch' || act === 'unwatch';
}

function nothingToDo(fleet: string, same: number): string {
  return `fleet ${plain(fleet)}: nothing to do, ${asDeclared(same)}`;
}

function asDeclared(count: number): string {
  return `${counted(count, 'sandbox', 'sandboxes')} ${count === 1 ? 'is' : 'are'} as declared`;
}

function subject(step: FleetStep): string {
  if (step.act === 'init-volumes') return listed('volume', step.volumes);
  if (step.act === 'watch' || step.act === 'unwatch') return `watcher ${plain(step.name)} of room ${plain(step.room)}`;
  return step.act === 'init-rooms' ? listed('room', step.rooms) : plain(step.name);
}

function listed(noun: string, names: readonly string[]): string {
  return `${names.length === 1 ? noun : `${noun}s`} ${names.map(plain).join(', ')}`;
}

function detail(step: FleetStep): string {
  if (step.act === 'network') return networkText(step);
  if (step.act === 'start') return `it is ${step.state}`;
  if (step.act === 'unwatch') return 'no longer declared';
  if (step.act === 'remove') return ['no longer declared', ...kept(step.unapplied)].join('; ');
  if (step.act !== 'replace') return '';
  return [...step.differences.map(differenceText), ...kept(step.unapplied)].join('; ');
}

function networkText({ allow, deny }: Extract<FleetStep, { act: 'network' }>): string {
  const rules = [...allow.map((rule) => `+${plain(rule)}`), ...deny.map((rule) => `-${plain(rule)}`)];
  return `network: ${rules.join(' ')}`;
}

function kept(unapplied: 'changes' | 'commits' | null): string[] {
  return unapplied === null ? [] : [`has ${unapplied} that were not applied`];
}

type Difference = Extract<FleetStep, { act: 'replace' }>['differences'][number];

function differenceText({ field, before, after }: Difference): string {
  if ([before, after].some((value) => value?.startsWith('sha256:')) || before === after)
    return `${plain(field)} differs`;
  return `${plain(field)}: ${valueText(field, before)} → ${valueText(field, after)}`;
}

function valueText(field: string, value: string | null): string {
  if (value === null) return '-';
  return /^limits\.(memory|swap|disk)$/.test(field) ? formatSize(Number(value)) : cut(plain(value), valueColumns);
}
