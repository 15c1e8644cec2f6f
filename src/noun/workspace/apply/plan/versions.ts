/** The three versions of one path, how their bytes compare, and their merge. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scratchFolder } from '../../../../lib/file/scratch.ts';
import { spawnFault } from '../../../../lib/process/run.ts';
import type { BytePath } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { isSame } from '../../change/base/base-log.ts';
import { plainEnv } from '../../git/git.ts';
import type { Change, Content, PlannedPath } from '../../model/change.ts';
import { isBinary } from '../../tree/content.ts';
import type { ContentSource, Reader } from '../../tree/reader.ts';
import type { PathState, PlannedProject } from './planned-project.ts';
import type { Sameness } from './three-way.ts';

const maxMergeBytes = 4 * 1024 * 1024;
const mergeMs = 60_000;

export class Versions implements Sameness {
  readonly change: Change;
  readonly project: PathState | null;
  readonly #reader: Reader;
  readonly #root: string;
  readonly #layer: PlannedProject;

  constructor(change: Change, layer: PlannedProject, reader: Reader, project: string) {
    this.change = change;
    this.project = layer.look(change.path);
    this.#layer = layer;
    this.#reader = reader;
    this.#root = project;
  }

  get agent(): ContentSource | null {
    return sourceOf(this.change.afterContent, this.change.path);
  }

  projectIsBase(): boolean {
    if (this.project?.from === null && this.#isUntouched()) return true;
    const [project, lost] = [this.project?.source ?? null, this.change.beforeContent];
    if (lost?.at === 'lost' && lost.sha256 && project) return this.#reader.hash(project) === lost.sha256;
    return this.#same(project, this.#base());
  }

  projectIsAgent(): boolean {
    return this.#same(this.project?.source ?? null, this.agent);
  }

  agentIsBase(): boolean {
    const { before, after } = this.change;
    // A change differs in something: if not in the mode, then in the content.
    return before?.mode !== after?.mode && this.#same(this.#base(), this.agent);
  }

  kind(): PlannedPath['change'] {
    const { before, after } = this.change;
    if (before === null) return 'added';
    if (after === null) return 'deleted';
    if (before.type !== after.type) return 'retyped';
    if (before.type !== 'file') return before.type === 'folder' ? 'mode' : 'modified';
    return before.sizeBytes === after.sizeBytes && this.agentIsBase() ? 'mode' : 'modified';
  }

  /** Returns the merge, or a text that says why there can be none. */
  merge(sandbox: string): Merged | string {
    const sources = [this.change.before ? this.#base() : empty, this.project?.source ?? null, this.agent];
    if (sources[0] === null) return 'both changed it, and what it was changed from is no longer kept';
    const [base, project, agent] = sources.map((source) => source && this.#reader.read(source, maxMergeBytes));
    if (!base || !project || !agent) return 'both changed it, and it is too large to merge';
    if ([base, project, agent].some(isBinary)) return 'both changed it, and it is not text';
    return mergeFile({ base, project, agent, projectLabel: this.project?.from ?? 'project', agentLabel: sandbox });
  }

  #same(one: ContentSource | null, other: ContentSource | null): boolean {
    return one !== null && other !== null && this.#reader.same(one, other);
  }

  /** Null: the base is no longer stored. A base that is the project itself is lost when the owner changes the file. */
  #base(): ContentSource | null {
    const { beforeContent, path } = this.change;
    return this.#isBaseInProject() && !this.#isUntouched() ? null : sourceOf(beforeContent, path);
  }

  /** True: the project still has the same file that was the base, unchanged. */
  #isUntouched(): boolean {
    const { before, beforeFile } = this.change;
    const now = this.#layer.onDisk(this.change.path);
    if (now === null || now.identity === null || now.entry.mode !== before?.mode) return false;
    if (beforeFile === undefined) return this.#isBaseInProject() && now.entry.sizeBytes === before.sizeBytes;
    // A new hard link changes the `ctime`, which is ignored if the base is the project itself; any other base can still
    // be read and compared.
    return isSame(
      beforeFile,
      this.#isBaseInProject() ? { ...now.identity, ctimeNs: beforeFile.ctimeNs } : now.identity,
    );
  }

  #isBaseInProject(): boolean {
    const content = this.change.beforeContent;
    return content?.at === 'tree' && content.root === this.#root;
  }
}

const empty: ContentSource = { from: 'bytes', bytes: new Uint8Array() };

function sourceOf(content: Content | null, path: BytePath): ContentSource | null {
  return content === null || content.at === 'lost' ? null : { from: 'content', content, path };
}

interface MergeInput {
  readonly base: Uint8Array;
  readonly project: Uint8Array;
  readonly agent: Uint8Array;
  readonly projectLabel: string;
  readonly agentLabel: string;
}

export interface Merged {
  readonly bytes: Buffer;
  /** False: both sides changed the same lines, and `bytes` has markers around them. */
  readonly clean: boolean;
}

/**
 * `git merge-file` on copies in a private folder. It runs outside of any repository and without any configuration, so
 * neither the agent nor the project can change how it merges.
 */
function mergeFile(input: MergeInput): Merged {
  const folder = mkdtempSync(join(scratchFolder(), 'carrel-merge-'));
  try {
    writeFileSync(join(folder, 'project'), input.project, { mode: 0o600 });
    writeFileSync(join(folder, 'base'), input.base, { mode: 0o600 });
    writeFileSync(join(folder, 'agent'), input.agent, { mode: 0o600 });
    return runMerge(folder, input);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runMerge(folder: string, { projectLabel, agentLabel }: MergeInput): Merged {
  const labels = ['-L', projectLabel, '-L', 'base', '-L', agentLabel];
  const ran = spawnSync('git', ['merge-file', '-p', '--diff3', ...labels, 'project', 'base', 'agent'], {
    cwd: folder,
    env: { ...plainEnv, GIT_CEILING_DIRECTORIES: dirname(folder) },
    maxBuffer: 8 * maxMergeBytes,
    timeout: mergeMs,
    killSignal: 'SIGKILL',
  });
  if (ran.error) throw spawnFault('git', ran.error);
  // The status is the number of conflicts, 127 at most.
  if (ran.status === null || ran.status > 127)
    throw new Fault('internal', `git merge-file failed: ${ran.stderr.toString().trim()}`);
  return { bytes: ran.stdout, clean: ran.status === 0 };
}
