/**
 * Decides one change from three sides: the base it was made on, the agent's version, and the project's version now. A
 * pure function; the caller reads the files.
 *
 * Rules beyond the plain three-way ones:
 * - A folder that both have is the same folder. A folder that the agent deleted is removed only if it is empty, so it
 *   stays if the owner has put something there.
 * - Permissions are merged apart from content. If both sides changed them, those of the project stay, provided that
 *   both agree on who may execute.
 * - FIFOs, sockets and devices mean something to running programs only. They are never taken and never replaced: such a
 *   change is left, and blocks nothing.
 */
import type { Entry } from '../../model/change.ts';

/** Whether two sides have the same bytes. Called only for files of equal size. */
export interface Sameness {
  projectIsBase(): boolean;
  projectIsAgent(): boolean;
  agentIsBase(): boolean;
}

export interface Sides {
  readonly base: Entry | null;
  readonly agent: Entry | null;
  readonly project: Entry | null;
  readonly baseKnown: boolean;
}

export type MergeDecision =
  | { readonly verdict: 'take' | 'same' | 'left' }
  /** Files on all sides; `content` says whose bytes, or that they have to be merged. */
  | { readonly verdict: 'merge'; readonly content: 'project' | 'agent' | 'both'; readonly mode: number }
  /** `markers`: both sides are files, so that the difference can be written into one. */
  | { readonly verdict: 'conflict'; readonly reason: string; readonly markers: boolean };

const take: MergeDecision = { verdict: 'take' };
const same: MergeDecision = { verdict: 'same' };

export function decide(sides: Sides, contents: Sameness): MergeDecision {
  const { base, agent, project, baseKnown } = sides;
  if (isSpecial(agent) || isSpecial(project)) return { verdict: 'left' };
  if (agent === null && base === null) return same;
  if (isFolder(project) && isFolder(agent)) return baseKnown ? folderMode(base, agent!, project!) : same;
  if (isEqual(project, agent, () => contents.projectIsAgent())) return same;
  if (!baseKnown) return conflict(unknownBase);
  // A folder has no content: if only the base has one at this path, the entries of the other sides count as added.
  if (!isFolder(agent) && !isFolder(project) && isFolder(base)) return decide({ ...sides, base: null }, contents);
  if (isFolder(project) && agent === null && !isFolder(base)) return same;
  if (isFolder(agent) && project === null && !isFolder(base)) return take;
  if (isFolder(base) && isFolder(project) && agent === null) return take;
  if (isEqual(project, base, () => contents.projectIsBase())) return take;
  // The agent changed only the folder's permissions, and the owner removed it.
  if (isFolder(base) && isFolder(agent) && project === null) return same;
  if (isFile(project) && isFile(agent) && base === null) return bothAdded(agent!, project!, contents);
  if (isFile(project) && isFile(agent) && isFile(base)) return files(base!, agent!, project!, contents);
  return conflict(reasonOf(sides));
}

const unknownBase =
  "the project changed it before the agent's change was recorded, so what the agent changed it from is not known";

function conflict(reason: string, markers = false): MergeDecision {
  return { verdict: 'conflict', reason, markers };
}

function folderMode(base: Entry | null, agent: Entry, project: Entry): MergeDecision {
  if (!isFolder(base) || agent.mode === base!.mode || agent.mode === project.mode) return same;
  return project.mode === base!.mode ? take : same;
}

function bothAdded(agent: Entry, project: Entry, contents: Sameness): MergeDecision {
  if (agent.sizeBytes !== project.sizeBytes || !contents.projectIsAgent()) return conflict('both added it', true);
  return mergeModes(null, agent.mode, project.mode) === null ? conflict(bothModes) : same;
}

const bothModes = 'both changed who may execute it';

function files(base: Entry, agent: Entry, project: Entry, contents: Sameness): MergeDecision {
  const mode = mergeModes(base.mode, agent.mode, project.mode);
  if (mode === null) return conflict(bothModes);
  const content = whoseContent(base, agent, project, contents);
  return content === 'project' && mode === project.mode ? same : { verdict: 'merge', content, mode };
}

function whoseContent(base: Entry, agent: Entry, project: Entry, contents: Sameness): 'project' | 'agent' | 'both' {
  if (agent.sizeBytes === base.sizeBytes && contents.agentIsBase()) return 'project';
  if (project.sizeBytes === base.sizeBytes && contents.projectIsBase()) return 'agent';
  return project.sizeBytes === agent.sizeBytes && contents.projectIsAgent() ? 'project' : 'both';
}

/** Null: both changed them, and they differ in who may execute. */
export function mergeModes(base: number | null, agent: number, project: number): number | null {
  if (agent === base) return project;
  if (project === base) return agent;
  return (agent & 0o111) === (project & 0o111) ? project : null;
}

function reasonOf({ base, agent, project }: Sides): string {
  if (agent === null) return 'the agent deleted it, the project changed it';
  if (project === null) return 'the agent changed it, the project deleted it';
  if (base === null) return `the agent added a ${agent.type}, the project a ${project.type}`;
  if (agent.type === 'link' && project.type === 'link') return 'both changed where the link points';
  return `it was a ${base.type}, is a ${agent.type} with the agent and a ${project.type} in the project`;
}

/** Equal in everything that an agent can change. */
function isEqual(one: Entry | null, other: Entry | null, sameContent: () => boolean): boolean {
  if (one === null || other === null) return one === other;
  if (one.type !== other.type || one.mode !== other.mode || one.target !== other.target) return false;
  return one.type !== 'file' || (one.sizeBytes === other.sizeBytes && sameContent());
}

function isFolder(entry: Entry | null): boolean {
  return entry?.type === 'folder';
}

function isFile(entry: Entry | null): boolean {
  return entry?.type === 'file';
}

function isSpecial(entry: Entry | null): boolean {
  return entry !== null && !['file', 'folder', 'link'].includes(entry.type);
}
