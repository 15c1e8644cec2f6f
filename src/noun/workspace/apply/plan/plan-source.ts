/** Decides every change of one sandbox, and plans the changes that are taken. */
import { type BytePath, toText } from '../../../../model/byte-path.ts';
import type { Change, Conflict, Entry, PathOutcome, PlannedPath } from '../../model/change.ts';
import type { ContentSource, Reader } from '../../tree/reader.ts';
import type { ApplyOptions } from '../apply.ts';
import { checkGates, type GateResult } from '../gate/check-gates.ts';
import { noGateContext } from '../gate/gate-context.ts';
import type { PathState, PlannedProject } from './planned-project.ts';
import { Renames } from './renames.ts';
import { decide, type MergeDecision, mergeModes } from './three-way.ts';
import { Versions } from './versions.ts';

export interface PlanContext {
  readonly planned: PlannedProject;
  readonly reader: Reader;
  readonly sandbox: string;
  readonly project: string;
  readonly options: ApplyOptions;
}

/** A conflict, and which resolutions are possible besides leaving it. */
interface Clash {
  readonly reason: string;
  readonly with: string | null;
  readonly canTakeAgents: boolean;
  /** The file with markers in it. */
  readonly markers: (() => PathState | null) | null;
}

const usualFolderMode = 0o755;

export class PlanSource {
  readonly #at: PlanContext;
  readonly #folderModes: ReadonlyMap<BytePath, number>;

  /** `all` includes changes that were not requested: the modes of missing folders come from them. */
  constructor(at: PlanContext, all: readonly Change[]) {
    this.#at = at;
    this.#folderModes = new Map(
      all.flatMap(({ path, after }) => (after?.type === 'folder' ? [[path, after.mode] as const] : [])),
    );
  }

  /**
   * The order matters: a folder can be removed only after everything in it is decided, and a file that the agent
   * renamed can be removed under its old name only if the project takes it under the new one.
   */
  decide(changes: readonly Change[]): PlannedPath[] {
    const decided = new Map<Change, PlannedPath>();
    const folders = changes.filter((change) => this.#givesUpFolder(change));
    const given = new Set(folders);
    const others = changes.filter((change) => !given.has(change));
    for (const change of others.filter(({ after }) => after !== null)) decided.set(change, this.#decideOne(change));
    const renames = new Renames(this.#at.reader, decided);
    for (const change of others.filter(({ after }) => after === null))
      decided.set(change, this.#decideDeletion(change, renames));
    for (const change of folders.reverse()) decided.set(change, this.#decideOne(change));
    return changes.map((change) => decided.get(change)!);
  }

  /** If the new name of a renamed file is not taken, removing the old one would lose its content. */
  #decideDeletion(change: Change, renames: Renames): PlannedPath {
    const kept = renames.keeps(change);
    if (kept === null) return this.#decideOne(change);
    const versions = new Versions(change, this.#at.planned, this.#at.reader, this.#at.project);
    const reason = `the agent renamed it to ${toText(kept.path)}, which is not taken`;
    const clash = { reason, with: null, canTakeAgents: false, markers: null };
    return this.#result(versions, kept.outcome, conflictOf(versions, clash));
  }

  #givesUpFolder({ path, after }: Change): boolean {
    return after?.type !== 'folder' && this.#at.planned.look(path)?.entry.type === 'folder';
  }

  #decideOne(change: Change): PlannedPath {
    const versions = new Versions(change, this.#at.planned, this.#at.reader, this.#at.project);
    if (this.#at.options.cannotHold?.(change.path)) return this.#result(versions, 'left');
    const obstacle = this.#at.planned.obstacle(change.path);
    if (obstacle) return this.#behind(obstacle, versions);
    const project = versions.project?.entry ?? null;
    const { before: base, after: agent, baseKnown } = change;
    return this.#follow(decide({ base, agent, project, baseKnown }, versions), versions);
  }

  /** A path below a link or a file of the project counts as absent. */
  #behind(obstacle: PathState, versions: Versions): PlannedPath {
    if (versions.change.after === null) return this.#result(versions, 'same');
    const reason = `the project has a ${obstacle.entry.type} where its folder was`;
    return this.#settle(versions, { reason, with: obstacle.from, canTakeAgents: false, markers: null });
  }

  #follow(decision: MergeDecision, versions: Versions): PlannedPath {
    if (decision.verdict === 'take') return this.#take(versions, 'take', null);
    if (decision.verdict === 'merge') return this.#merge(versions, decision.content, decision.mode);
    if (decision.verdict !== 'conflict') return this.#result(versions, decision.verdict);
    const markers = decision.markers ? () => this.#withMarkers(versions) : null;
    const canTakeAgents = versions.change.perhapsUnseen !== true;
    return this.#settle(versions, {
      reason: decision.reason,
      with: versions.project?.from ?? null,
      canTakeAgents,
      markers,
    });
  }

  #take(versions: Versions, outcome: PathOutcome, conflict: Conflict | null): PlannedPath {
    const { path, after } = versions.change;
    const needsEmpty = versions.project?.entry.type === 'folder' && after?.type !== 'folder';
    if (needsEmpty && !this.#at.planned.isEmpty(path)) return this.#keepFolder(versions);
    return this.#carry(versions, this.#agentState(versions), outcome, conflict);
  }

  #keepFolder(versions: Versions): PlannedPath {
    const { after } = versions.change;
    if (after === null) return this.#result(versions, 'same');
    const reason = `the agent has a ${after.type} where the project has a folder with something in it`;
    return this.#settle(versions, {
      reason,
      with: versions.project?.from ?? null,
      canTakeAgents: false,
      markers: null,
    });
  }

  #merge(versions: Versions, content: 'project' | 'agent' | 'both', mode: number): PlannedPath {
    const { after } = versions.change;
    if (content === 'agent')
      return this.#carry(versions, this.#stateOf({ ...after!, mode }, versions.agent), 'merge', null);
    if (content === 'project') {
      const { entry, source } = versions.project!;
      return this.#carry(versions, this.#stateOf({ ...entry, mode }, source), 'merge', null);
    }
    return this.#mergeBoth(versions, mode);
  }

  #mergeBoth(versions: Versions, mode: number): PlannedPath {
    const merged = versions.merge(this.#at.sandbox);
    const clash = { with: versions.project!.from, canTakeAgents: true, markers: null };
    if (typeof merged === 'string') return this.#settle(versions, { ...clash, reason: merged });
    const state = this.#written(merged.bytes, mode);
    if (merged.clean) return this.#carry(versions, state, 'merge', null);
    return this.#settle(versions, { ...clash, reason: 'both changed the same lines', markers: () => state });
  }

  #withMarkers(versions: Versions): PathState | null {
    const merged = versions.merge(this.#at.sandbox);
    const { before, after } = versions.change;
    const mode = versions.project!.entry.mode;
    return typeof merged === 'string'
      ? null
      : this.#written(merged.bytes, mergeModes(before?.mode ?? null, after!.mode, mode) ?? mode);
  }

  #settle(versions: Versions, clash: Clash): PlannedPath {
    const conflict = conflictOf(versions, clash);
    const { resolution } = this.#at.options;
    if (resolution === 'ours') return this.#result(versions, 'ours', conflict);
    if (resolution === 'leave') return this.#result(versions, 'left', conflict);
    if (resolution === 'theirs' && clash.canTakeAgents) return this.#take(versions, 'theirs', conflict);
    if (resolution === 'theirs' && versions.change.perhapsUnseen) return this.#result(versions, 'left', conflict);
    const marked = resolution === 'markers' && clash.markers?.();
    if (marked) return this.#carry(versions, marked, 'markers', conflict);
    const { gates, note } = this.#checkGates(versions, this.#agentState(versions));
    return { ...this.#result(versions, 'conflict', conflict), gates, note };
  }

  /** Plans the path if all of its gates are allowed. */
  #carry(versions: Versions, result: PathState | null, outcome: PathOutcome, conflict: Conflict | null): PlannedPath {
    const { path } = versions.change;
    const { allow, resolution } = this.#at.options;
    const { gates, note, after } = this.#checkGates(versions, result);
    if (gates.some((gate) => !allow.includes(gate)))
      return { ...this.#result(versions, resolution === 'leave' ? 'left' : 'gated', conflict), gates, note };
    if (after) this.#makeFolders(path);
    this.#at.planned.plan(path, after);
    return { ...this.#result(versions, outcome, conflict), gates, note };
  }

  #checkGates({ change, project }: Versions, result: PathState | null): GateResult {
    const { gateContext = noGateContext } = this.#at.options;
    const linkAt = (path: BytePath) => {
      const state = this.#at.planned.look(path);
      return state ? state.entry.target : gateContext.linkAt(path);
    };
    return checkGates(this.#at.reader, change.path, project, result, { ...gateContext, linkAt });
  }

  /** Plans the missing folders with the agent's modes: the owner may have deleted them, or not requested them. */
  #makeFolders(path: BytePath): void {
    for (const folder of this.#at.planned.missingAbove(path)) {
      const there = this.#at.planned.onDisk(folder)?.entry;
      const mode = this.#folderModes.get(folder) ?? (there?.type === 'folder' ? there.mode : usualFolderMode);
      this.#at.planned.plan(folder, this.#stateOf({ type: 'folder', mode, sizeBytes: 0, target: null }, null));
    }
  }

  #agentState(versions: Versions): PathState | null {
    const { after } = versions.change;
    return after && this.#stateOf(after, versions.agent);
  }

  #written(bytes: Uint8Array, mode: number): PathState {
    return this.#stateOf({ type: 'file', mode, sizeBytes: bytes.length, target: null }, { from: 'bytes', bytes });
  }

  #stateOf(entry: Entry, source: ContentSource | null): PathState {
    return { entry, source, from: this.#at.sandbox };
  }

  #result(versions: Versions, outcome: PathOutcome, conflict: Conflict | null = null): PlannedPath {
    const { path } = versions.change;
    const verdict = { gates: [], note: null };
    return { path, sandbox: this.#at.sandbox, change: versions.kind(), outcome, ...verdict, conflict };
  }
}

function conflictOf({ change, project }: Versions, clash: Clash): Conflict {
  const { before: base, after: theirs } = change;
  return { reason: clash.reason, base, ours: project?.entry ?? null, theirs, with: clash.with };
}
