/** The swarms of one user, as the API has them. */
import type { SwarmContainerView, SwarmEntryView, SwarmExportView, SwarmView } from '../api/routes.ts';
import { Fault, isFault } from '../model/fault.ts';
import { printable } from '../model/name.ts';
import { entryOf, exportOf, isActive, renewed, type Swarm, type SwarmContainer } from '../model/swarm.ts';
import { orphanedStories, progressOf, type StoryProgress } from '../model/task.ts';
import { problemLine } from '../model/task-text.ts';
import { canResume, type Desk, nothingToResume, type Orchestrator } from '../swarm/orchestrator.ts';
import { defaultMax, type NewContainer, type SwarmState } from '../swarm/state.ts';
import type { Surface } from '../swarm/surface.ts';
import { type TaskPlace, taskPath } from '../task/task.ts';
import type { Tasks } from '../task/tasks.ts';
import type { Sandboxes } from './sandboxes.ts';
import { containerFor, type NewWork, type OrderParts, type RunChoice, requestFor, storiesOf } from './swarm-order.ts';
import type { TaskDesk } from './tasks.ts';

export interface SwarmParts extends OrderParts {
  readonly state: SwarmState;
  readonly surface: Surface;
  readonly tasks: Tasks;
  readonly desk: TaskDesk;
  readonly orchestrator: Orchestrator;
  readonly now: () => string;
}

export interface RunOrder extends RunChoice {
  readonly project: string;
  readonly files?: readonly string[] | undefined;
  readonly max?: number | undefined;
}

export interface UpdateOrder {
  readonly project: string;
  readonly containerName: string;
  readonly status?: SwarmContainer['status'] | undefined;
  readonly prUrl?: string | null | undefined;
  readonly storyProgress?: StoryProgress | undefined;
  readonly acpPid?: number | null | undefined;
}

/** For what has ended to be recorded as such. */
const settleMs = 5000;

export class SwarmDesk {
  readonly #sandboxes: Sandboxes;
  readonly #parts: SwarmParts;

  constructor(sandboxes: Sandboxes, parts: SwarmParts) {
    this.#sandboxes = sandboxes;
    this.#parts = parts;
  }

  /** For whoever looks after the containers. */
  get hands(): Desk {
    return this.#parts;
  }

  get #state(): SwarmState {
    return this.#parts.state;
  }

  /** Everything is read and checked first: one bad file, and nothing is begun. */
  async run(order: RunOrder): Promise<SwarmView> {
    const project = this.#sandboxes.project(order.project);
    const works = this.#open(this.#read(this.#places(project, order.files)), order.files !== undefined);
    const request = requestFor(project, order, this.#parts);
    this.#sandboxes.check(request);
    const swarm = this.#state.find(project) ?? this.#state.init(project, false);
    const known = this.#state.containers(swarm);
    const again = works.map((work) => known.find(({ taskFilePath }) => taskFilePath === taskPath(work.place)) ?? null);
    again.forEach((one) => {
      if (one) refuseAgain(one, order);
    });
    this.#state.setMax(swarm, order.max ?? swarm.max ?? defaultMax);
    const taken = new Set([
      ...known.map((one) => one.containerName),
      ...this.#sandboxes.rows().map(({ name }) => name),
    ]);
    works.forEach((work, index) => {
      const before = again[index];
      if (before?.work) this.#renew(before, work);
      else this.#add(swarm, containerFor(work, request, order, taken));
    });
    this.#parts.orchestrator.advance(this.#sandboxes.owner, project);
    return this.#view(this.#state.current(project));
  }

  #places(project: string, files: readonly string[] | undefined): TaskPlace[] {
    if (files === undefined) return this.#parts.tasks.find(project);
    const places = files.map((file) => this.#parts.desk.place(file));
    const stranger = places.find((place) => place.project !== project);
    if (stranger) throw new Fault('invalid', `${printable(stranger.name)} is not a task file of ${printable(project)}`);
    return [...new Map(places.map((place) => [taskPath(place), place])).values()];
  }

  #read(places: readonly TaskPlace[]): NewWork[] {
    const { tasks } = this.#parts;
    const readings = places.map((place) => ({ place, reading: tasks.look(place, this.#sandboxes.account) }));
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

  /** Those that have something to do. */
  #open(works: readonly NewWork[], named: boolean): NewWork[] {
    const open = works.filter(({ file }) => {
      const { total, completed, skipped } = progressOf(file.userStories);
      return completed + skipped < total;
    });
    const idle = works.find((work) => !open.includes(work));
    if (named && idle) throw new Fault('conflict', `every story of ${taskPath(idle.place)} is done`);
    if (open.length > 0) return open;
    throw new Fault('not_found', 'there is no task file with anything to do', {
      hint: 'carrel task list shows those there are.',
    });
  }

  #add(swarm: Swarm, { storyProgress, work, ...entry }: ReturnType<typeof containerFor>): void {
    this.#state.add(swarm, entry, { storyProgress, work });
  }

  #renew(container: SwarmContainer, { file }: NewWork): void {
    const work = { ...container.work!, stories: storiesOf(file) };
    const again = renewed({ ...container, storyProgress: progressOf(file.userStories) }, work, this.#parts.now());
    this.#state.put(again, 'swarm.resumed');
  }

  async resume(project: string, names?: readonly string[]): Promise<SwarmView> {
    const swarm = await this.#settled(project);
    const chosen = this.#chosen(swarm, names);
    const able = chosen.filter(canResume);
    const unable = chosen.find((one) => !canResume(one));
    if (names && unable) throw notResumable(unable);
    if (able.length === 0) throw nothingToResume();
    // Every file is looked at before anything is begun.
    const works = await Promise.all(able.map((container) => this.#withoutOrphans(swarm, container)));
    able.forEach((container, index) => {
      this.#renew(container, works[index]!);
    });
    this.#parts.orchestrator.advance(this.#sandboxes.owner, swarm.project);
    return this.#view(this.#state.current(swarm.project));
  }

  /** Nobody works on this file: what is in progress there has failed. */
  async #withoutOrphans({ project }: Swarm, { taskFilePath }: SwarmContainer): Promise<NewWork> {
    const place = this.#parts.desk.place(`${project}/${taskFilePath}`);
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
    // Those who wait first, so that none of them takes the place of one that was stopped.
    const waiting = active.filter(({ status }) => status === 'pending');
    const working = active.filter(({ status }) => status === 'running');
    const stop = (one: SwarmContainer) => this.#parts.orchestrator.stop(this.#sandboxes.owner, one);
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

  /** What has ended is recorded as such before anybody is told. */
  async #settled(project: string): Promise<Swarm> {
    const swarm = this.#current(project);
    const running = this.#state.containers(swarm).filter(({ status, work }) => status === 'running' && work !== null);
    await Promise.all(running.map((container) => this.#settle(container)));
    return swarm;
  }

  async #settle(container: SwarmContainer): Promise<void> {
    const { state } = await this.#sandboxes.show(container.containerName).catch((error: unknown) => {
      if (isFault(error, 'not_found')) return { state: 'failed' };
      return { state: 'running' };
    });
    if (state !== 'running' && state !== 'pending') await this.#parts.orchestrator.settled(container, settleMs);
  }

  init(project: string, force: boolean): SwarmExportView {
    return this.#export(this.#state.init(this.#sandboxes.project(project), force));
  }

  async export(project: string): Promise<SwarmExportView> {
    return this.#export(await this.#settled(project));
  }

  add({ project, ...entry }: NewContainer & { readonly project: string }): SwarmEntryView {
    return entryOf(this.#state.add(this.#current(project), entry));
  }

  update({ project, containerName, ...asked }: UpdateOrder): SwarmEntryView {
    const change = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    return entryOf(this.#state.update(this.#current(project), containerName, change));
  }

  remove(project: string, containerName: string): SwarmEntryView {
    return entryOf(this.#state.remove(this.#current(project), containerName));
  }

  /** The sandbox of one that is completed goes along, its commits being on the host; others keep what they have. */
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

  /** A project that is gone keeps nobody from clearing up after it. */
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
    reason: work?.reason ?? null,
    errors: [...(work?.errors ?? []), ...(work?.completion?.errors ?? [])],
    stories: Object.entries(work?.stories ?? {}).map(([id, story]) => ({ id, ...story })),
    commits: (work?.tips ?? []).map((tip) => ({ ...tip })),
  };
}

function refuseAgain(container: SwarmContainer, { agent, sandbox }: RunChoice): void {
  const { containerName, taskFilePath, work } = container;
  if (isActive(container)) {
    throw new Fault('conflict', `${containerName} is at work on ${taskFilePath} already`, {
      hint: `See it with: carrel swarm status — stop it with: carrel swarm stop ${containerName}`,
    });
  }
  const differs =
    work &&
    ((agent && agent !== work.agent) || (sandbox?.engine && sandbox.engine !== (work.request.engine ?? 'local')));
  if (work && !differs) return;
  throw new Fault('conflict', `${containerName} was begun in another way`, {
    hint: `Forget it first: carrel swarm remove ${containerName}`,
  });
}

function notResumable({ containerName, status, work }: SwarmContainer): Fault {
  return new Fault('conflict', work ? `${containerName} is ${status}` : `${containerName} is looked after by a script`);
}
