/** Watchers of rooms that a carrel.yaml declares. */
import { isDeepStrictEqual } from 'node:util';
import type { WatchAction } from '../../room/model/watch.ts';
import { wakeCommands } from '../../room/model/watch.ts';
import type { DeclaredWatch, Existing, ExistingWatch, PlanStep, Problem } from './fleet.ts';
import { problem } from './fleet.ts';
import type { RoomsContent, WatchContent } from './room-schema.ts';

export function watchesOf(rooms: RoomsContent, secrets: readonly string[], found: Problem[]): DeclaredWatch[] {
  return Object.entries(rooms).flatMap(([room, content]) =>
    Object.entries(content?.watch ?? {}).map(([who, watch]) => {
      if (watch.secret !== undefined && !secrets.includes(watch.secret))
        found.push(undeclared(room, who, watch.secret));
      return { room, who, action: actionOf(watch), isForAll: watch.all ?? false };
    }),
  );
}

function undeclared(room: string, who: string, secret: string): Problem {
  const message = `${secret} is not declared`;
  return problem('invalid', ['rooms', room, 'watch', who, 'secret'], message, 'List it under `secrets`.');
}

function actionOf({ wake, run, webhook, secret }: WatchContent): WatchAction {
  if (run !== undefined) return { kind: 'run', argv: run };
  if (webhook !== undefined) return { kind: 'webhook', url: webhook, secret: secret ?? null };
  return { kind: 'wake', argv: typeof wake === 'string' ? wakeCommands[wake]! : wake! };
}

/** The grants of watchers: one line each, with everything that is run or called. */
export function watchGrants(rooms: RoomsContent): string[] {
  return Object.entries(rooms).flatMap(([room, content]) =>
    Object.entries(content?.watch ?? {}).map(
      ([who, watch]) => `room ${room}: ${who}${watch.all ? ', all messages' : ''}: ${actionText(actionOf(watch))}`,
    ),
  );
}

function actionText(action: WatchAction): string {
  if (action.kind !== 'webhook') return `${action.kind} ${JSON.stringify(action.argv)}`;
  return `webhook ${action.url}${action.secret === null ? '' : ` signed with ${action.secret}`}`;
}

/** Adds or changes the watchers that are missing or differ. */
export function watchSteps(fleet: string, declared: readonly DeclaredWatch[], { watches }: Existing): PlanStep[] {
  return declared.flatMap((watch) => {
    const there = watches.find((one) => isSame(one, watch));
    if (there?.fleet === fleet && isAsDeclared(there, watch)) return [];
    return [{ act: 'watch', room: watch.room, name: watch.who, request: requestOf(fleet, watch) }];
  });
}

/** Removes the watchers of the fleet that are no longer declared. */
export function unwatchSteps(fleet: string, declared: readonly DeclaredWatch[], { watches }: Existing): PlanStep[] {
  return watches
    .filter((one) => one.fleet === fleet && !declared.some((watch) => isSame(watch, one)))
    .map(({ room, who }) => ({ act: 'unwatch', room, name: who }));
}

/** The problems for which the steps would be refused. */
export function watchProblems(
  fleet: string,
  declared: readonly DeclaredWatch[],
  { watches, sandboxes }: Existing,
  declaredSandboxes: ReadonlySet<string>,
): Problem[] {
  return declared.flatMap(({ room, who, action }) => {
    const place = ['rooms', room, 'watch', who];
    const other = watches.find((one) => isSame(one, { room, who }) && one.fleet !== fleet);
    if (other) return [problem('conflict', place, ...takenText(fleet, room, who))];
    if (action.kind !== 'wake' || declaredSandboxes.has(who) || sandboxes.some(({ name }) => name === who)) return [];
    return [problem('not_found', place, `there is no sandbox ${who} to wake`, 'Declare it under `sandboxes`.')];
  });
}

function takenText(fleet: string, room: string, who: string): [message: string, hint: string] {
  const message = `the room ${room} has a watcher ${who} that the fleet ${fleet} did not add`;
  return [message, `Declare it under another name, or remove the other one: carrel room watch ${room} ${who} --rm`];
}

function isSame(one: { room: string; who: string }, other: { room: string; who: string }): boolean {
  return one.room === other.room && one.who === other.who;
}

function isAsDeclared(there: ExistingWatch, { action, isForAll }: DeclaredWatch): boolean {
  return there.isForAll === isForAll && isDeepStrictEqual(there.action, action);
}

type WatchStep = Extract<PlanStep, { act: 'watch' }>;

function requestOf(fleet: string, { who, action, isForAll }: DeclaredWatch): WatchStep['request'] {
  const common = { who, fleet, ...(isForAll ? { all: true } : {}) };
  if (action.kind === 'run') return { ...common, run: [...action.argv] };
  if (action.kind === 'wake') return { ...common, wake: { command: [...action.argv] } };
  return { ...common, webhook: action.url, ...(action.secret === null ? {} : { secret: action.secret }) };
}
