/** The swarms of one user: what the routes do with them. */
import { setImmediate as breathe } from 'node:timers/promises';
import { Fault, isFault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { BegunSwarmView, SwarmContainerView, SwarmEntryView, SwarmExportView, SwarmView } from '../api.ts';
import { hintOf } from '../model/reason.ts';
import {
  entryOf,
  errorsOf,
  exportOf,
  isActive,
  reconciled,
  renewed,
  type Swarm,
  type SwarmContainer,
} from '../model/swarm.ts';
import { orphanedStories, progressOf, type StoryProgress } from '../model/task.ts';
import { problemLine } from '../model/task-problem.ts';
import type { TaskReading } from '../model/task-text.ts';
import { type TaskPlace, taskPath } from '../task/task.ts';
import type { Tasks } from '../task/tasks.ts';
import { attemptsAt, checkRoute, refuseAgain, type WorkAttempt } from './order/attempt.ts';
import {
  addedGrants,
  containerFor,
  defaultAgent,
  type NewWork,
  type OrderParts,
  type RunChoice,
  requestFor,
  storiesOf,
} from './order/order.ts';
import type { SeeEntry } from './state/script-entries.ts';
import { defaultMax, type NewContainer, type SwarmState } from './state/state.ts';
import type { StateFiles } from './state/state-files.ts';
import type { UserTasks } from './task/user-tasks.ts';
import { canResume, nothingToResume, type Orchestrator } from './worker/orchestrator.ts';

export interface SwarmParts extends OrderParts {
  readonly state: SwarmState;
  readonly tasks: Tasks;
  readonly userTasks: UserTasks;
  readonly orchestrator: Orchestrator;
  readonly files: StateFiles;
  readonly seeEntry: SeeEntry;
  readonly now: () => string;
}

export interface RunOrder extends RunChoice {
  readonly project: string;
  readonly files?: readonly string[] | undefined;
  readonly max?: number | undefined;
}

export interface ResumeOrder extends RunChoice {
  readonly project: string;
  readonly names?: readonly string[] | undefined;
}

export interface UpdateOrder {
  readonly project: string;
  readonly containerName: string;
  readonly status?: SwarmContainer['status'] | undefined;
  readonly prUrl?: string | null | undefined;
  readonly storyProgress?: StoryProgress | undefined;
  readonly acpPid?: number | null | undefined;
}

/** Time-out for the end of a container to be recorded. */
const settleMs = 5000;
const observedAtOnce = 16;

export class UserSwarms {
  readonly #sandboxes: Sandboxes;
  readonly #parts: SwarmParts;

  constructor(sandboxes: Sandboxes, parts: SwarmParts) {
    this.#sandboxes = sandboxes;
    this.#parts = parts;
  }

  get #state(): SwarmState {
    return this.#parts.state;
  }

  /** Called after a restart of the daemon. */
  recover(): void {
    this.#parts.orchestrator.recover();
  }

  /** Reads and checks everything first: if one file is bad, nothing begins. */
  async run(order: RunOrder): Promise<BegunSwarmView> {
    const project = this.#sandboxes.project(order.project);
    const works = this.#open(await this.#read(this.#places(project, order.files)), order.files !== undefined);
    const before = this.#state.find(project);
    const known = before === null ? [] : this.#state.containers(before);
    const entries = works.map((work) => ({
      work,
      before: known.find(({ taskFilePath }) => taskFilePath === taskPath(work.place)) ?? null,
    }));
    for (const { before: one } of entries) if (one) refuseAgain(one);
    const news = entries.filter(({ before: one }) => one === null);
    const request = news.length === 0 ? null : requestFor(project, order, this.#parts);
    if (request) checkRoute(order, request, this.#sandboxes.check(request), this.#parts);
    const again = attemptsAt(project, entries, order, { ...this.#parts, sandboxes: this.#sandboxes });
    const swarm = before ?? this.#state.init(project, false);
    this.#state.setMax(swarm, order.max ?? swarm.max ?? defaultMax);
    const taken = new Set([
      ...known.map((one) => one.containerName),
      ...this.#sandboxes.rows().map(({ name }) => name),
    ]);
    const added = news.map(({ work }) => this.#add(swarm, containerFor(work, request!, order, taken)));
    for (const attempt of again) this.#renew(attempt);
    this.#parts.orchestrator.advance(project);
    return this.#begun(project, [...added, ...again.map(({ container }) => container)]);
  }

  #places(project: string, files: readonly string[] | undefined): TaskPlace[] {
    if (files === undefined) return this.#parts.tasks.find(project);
    const places = files.map((file) => this.#parts.userTasks.place(file));
    const stranger = places.find((place) => place.project !== project);
    if (stranger) throw new Fault('invalid', `${printable(stranger.name)} is not a task file of ${printable(project)}`);
    return [...new Map(places.map((place) => [taskPath(place), place])).values()];
  }

  async #read(places: readonly TaskPlace[]): Promise<NewWork[]> {
    const readings: { place: TaskPlace; reading: TaskReading }[] = [];
    for (const place of places) {
      readings.push({ place, reading: this.#parts.tasks.tryRead(place, this.#sandboxes.account) });
      // Other requests are answered between two files.
      await breathe();
    }
    const problems = readings.flatMap(({ place, reading }) =>
      'problems' in reading ? reading.problems.map((problem) => problemLine(taskPath(place), problem)) : [],
    );
    if (problems.length > 0) {
      throw new Fault('invalid', problems.slice(0, 50).join('\n'), {
        hint: 'Correct the files, or name others with --files.',
      });
    }
    return readings.flatMap(({ place, reading }) => ('file' in reading ? [{ place, file: reading.file }] : []));
  }

  /** The task files with stories to do. */
  #open(works: readonly NewWork[], named: boolean): NewWork[] {
    const open = works.filter(({ file }) => {
      const { total, completed, skipped } = progressOf(file.userStories);
      return completed + skipped < total;
    });
    const idle = works.find((work) => !open.includes(work));
    if (named && idle)
      throw new Fault('conflict', `every story of ${taskPath(idle.place)} is done`, { hint: 'See: carrel task ls' });
    if (open.length > 0) return open;
    throw new Fault('not_found', 'there is no task file with anything to do', {
      hint: 'See: carrel task ls',
    });
  }

  #add(swarm: Swarm, { storyProgress, work, ...entry }: ReturnType<typeof containerFor>): SwarmContainer {
    return this.#state.add(swarm, entry, { storyProgress, work });
  }

  #renew({ container, file, choice, request, change }: WorkAttempt): void {
    const { containerName, containerId } = container;
    if (change !== null) this.#sandboxes.change(containerName, containerId, change);
    const named = { ...request, name: containerName };
    const work = {
      ...container.work!,
      agent: choice.agent ?? defaultAgent,
      request: named,
      added: addedGrants(choice, request),
      stories: storiesOf(file),
    };
    const again = renewed({ ...container, storyProgress: progressOf(file.userStories) }, work, this.#parts.now());
    this.#state.put(again, 'swarm.resumed');
  }

  async resume({ project, names, ...order }: ResumeOrder): Promise<BegunSwarmView> {
    const swarm = await this.#settled(project);
    const chosen = this.#chosen(swarm, names);
    const able = chosen.filter(canResume);
    const unable = chosen.find((one) => !canResume(one));
    if (names && unable) throw notResumable(unable);
    if (able.length === 0) throw nothingToResume();
    // Every file is read before anything begins.
    const works = await Promise.all(able.map((container) => this.#withoutOrphans(swarm, container)));
    const entries = able.map((before, index) => ({ before, work: works[index]! }));
    const again = attemptsAt(swarm.project, entries, order, { ...this.#parts, sandboxes: this.#sandboxes });
    for (const attempt of again) this.#renew(attempt);
    this.#parts.orchestrator.advance(swarm.project);
    return this.#begun(swarm.project, able);
  }

  #begun(project: string, containers: readonly SwarmContainer[]): BegunSwarmView {
    return { ...this.#view(this.#state.current(project)), begun: containers.map(({ containerName }) => containerName) };
  }

  /** Marks stories in progress as failed, because no agent works on this file. */
  async #withoutOrphans({ project }: Swarm, { taskFilePath }: SwarmContainer): Promise<NewWork> {
    const place = this.#parts.userTasks.place(`${project}/${taskFilePath}`);
    const { file } = await this.#parts.tasks.change(
      place,
      (task) => orphanedStories(task.file.userStories, new Set()).map((id) => ({ id, status: 'failed' })),
      this.#sandboxes.account,
    );
    return { place, file };
  }

  async stop(project: string, names?: readonly string[]): Promise<SwarmView> {
    const swarm = this.#current(project);
    const active = this.#chosen(swarm, names).filter((one) => isActive(one) && one.work !== null);
    // Waiting ones first, so that none of them takes the place of one that was stopped.
    const waiting = active.filter(({ status }) => status === 'pending');
    const working = active.filter(({ status }) => status === 'running');
    const stop = (one: SwarmContainer) => this.#parts.orchestrator.stop(one);
    await Promise.all([...waiting, ...working].map(stop));
    return this.show(project);
  }

  #chosen(swarm: Swarm, names?: readonly string[]): SwarmContainer[] {
    if (names === undefined || names.length === 0) return [...this.#state.containers(swarm)];
    return names.map((name) => this.#state.container(swarm, name));
  }

  async show(project: string): Promise<SwarmView> {
    return this.#view(await this.#settled(project));
  }

  /** Records which containers have ended, before the state is answered. */
  async #settled(project: string): Promise<Swarm> {
    const swarm = this.#current(project);
    const running = this.#state.containers(swarm).filter(({ status, work }) => status === 'running' && work !== null);
    await Promise.all([...running.map((container) => this.#settle(container)), this.#settleEntries(swarm)]);
    return swarm;
  }

  /** Scripts do not report the end of their containers: observes them, a few at a time. */
  async #settleEntries(swarm: Swarm): Promise<void> {
    const entries = this.#state.containers(swarm).filter((one) => one.work === null && isActive(one));
    for (let at = 0; at < entries.length; at += observedAtOnce)
      await Promise.all(entries.slice(at, at + observedAtOnce).map((entry) => this.#settleEntry(entry)));
  }

  async #settleEntry(entry: SwarmContainer): Promise<void> {
    // A container that cannot be observed now keeps its recorded state, ignoring.
    const seen = await this.#parts.seeEntry(entry).catch(() => null);
    const outcome = seen && reconciled({ status: entry.status, completion: seen.completion }, seen.observed);
    if (outcome) this.#state.settle(entry, outcome);
  }

  async #settle(container: SwarmContainer): Promise<void> {
    const { state } = await this.#sandboxes.show(container.containerName).catch((error: unknown) => {
      if (isFault(error, 'not_found')) return { state: 'failed' };
      return { state: 'running' };
    });
    if (state !== 'running' && state !== 'pending') await this.#parts.orchestrator.settled(container, settleMs);
  }

  async init(project: string, force: boolean): Promise<SwarmExportView> {
    const before = this.#state.find(this.#sandboxes.project(project));
    if (before) await this.#settleEntries(before);
    return this.#export(this.#state.init(this.#sandboxes.project(project), force));
  }

  async export(project: string): Promise<SwarmExportView> {
    return this.#export(await this.#settled(project));
  }

  /** Writes the state into that file of the project now and after every change; null stops this. */
  async keepFile(project: string, file: string | null): Promise<SwarmExportView> {
    const swarm = await this.#settled(project);
    await this.#parts.files.write(this.#sandboxes.owner, { ...swarm, stateFile: file });
    this.#state.keepFile(swarm, file);
    return this.#export(this.#state.current(swarm.project));
  }

  add({ project, ...entry }: NewContainer & { readonly project: string }): SwarmEntryView {
    return entryOf(this.#state.add(this.#current(project), entry));
  }

  update({ project, containerName, ...wanted }: UpdateOrder): SwarmEntryView {
    const change = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
    return entryOf(this.#state.update(this.#current(project), containerName, change));
  }

  remove(project: string, containerName: string): SwarmEntryView {
    return entryOf(this.#state.remove(this.#current(project), containerName));
  }

  /** Removes the sandboxes of completed containers, whose commits are on the host; others keep theirs. */
  async cleanup(project: string): Promise<{ removed: number }> {
    const swarm = await this.#settled(project);
    const ended = this.#state.ended(swarm);
    for (const { containerName, containerId, status, work } of ended) {
      if (status !== 'completed' || !work || work.tips.length === 0) continue;
      if (this.#sandboxes.rows().some(({ id }) => id === containerId))
        await this.#sandboxes.remove(containerName, { force: true, id: containerId });
    }
    this.#state.forget(swarm, ended);
    return { removed: ended.length };
  }

  /** Finds a swarm by the given path first, so that the swarm of a project that is gone can still be cleaned up. */
  #current(project: string): Swarm {
    return this.#state.find(project) ?? this.#state.current(this.#sandboxes.project(project));
  }

  #export(swarm: Swarm): SwarmExportView {
    const { containers, ...rest } = exportOf(swarm, this.#state.containers(swarm));
    return { ...rest, containers: [...containers] };
  }

  #view(swarm: Swarm): SwarmView {
    const containers = this.#state.containers(swarm);
    const { containers: _, ...times } = exportOf(swarm, containers);
    return { ...times, project: swarm.project, max: swarm.max, containers: containers.map(viewOf) };
  }
}

function viewOf(container: SwarmContainer): SwarmContainerView {
  const { work } = container;
  return {
    ...entryOf(container),
    agent: work?.agent ?? null,
    attempt: work?.attempt ?? null,
    startedAt: work?.startedAt ?? null,
    hint: hintOf(container),
    errors: work === null ? [] : errorsOf(work),
    stories: Object.entries(work?.stories ?? {}).map(([id, story]) => ({ id, ...story })),
    commits: (work?.tips ?? []).map((tip) => ({ ...tip })),
  };
}

function notResumable({ containerName, status, work }: SwarmContainer): Fault {
  const managed = `a script manages ${containerName}, so Carrel cannot resume it`;
  return new Fault('conflict', work ? `${containerName} cannot be resumed: it is ${status}` : managed);
}
