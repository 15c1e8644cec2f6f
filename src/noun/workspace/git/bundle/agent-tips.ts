/**
 * Reads the tips of the branches of an agent's repository without git, since git could run on the host what an agent
 * wrote there. Only files that the working copy has itself are read; the rest is the project's.
 */
import { type Anchor, within } from '../../../../lib/file/anchor.ts';
import { type BytePath, toBytes } from '../../../../model/byte-path.ts';
import { afterRoot } from '../../change/changes.ts';
import { folderBelow, openRegular, readChunk, using } from '../../tree/content.ts';
import { unlessGone } from '../../tree/tree.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import { gitOutput } from '../git.ts';
import { openProjectGit } from '../project-git.ts';

export interface AgentTips {
  readonly oids: readonly string[];
  /** False: there are tips that cannot be read. */
  readonly whole: boolean;
}

const maxTips = 10_000;
const maxDepth = 64;
const maxBytes = 4 * 1024 ** 2;
const oid = /^(?:[0-9a-f]{64}|[0-9a-f]{40})$/;
const packedBranch = /^((?:[0-9a-f]{64}|[0-9a-f]{40})) refs\/heads\//;

export function readAgentTips(place: WorkspacePlace): AgentTips {
  const git = folderBelow(afterRoot(place), ['.git']);
  return git === null ? { oids: [], whole: true } : within(git, () => new TipReader().read(git));
}

class TipReader {
  readonly #oids = new Set<string>();
  #whole = true;

  read(git: Anchor): AgentTips {
    this.#file(git, 'HEAD', (text) => [text.trim()]);
    this.#file(git, 'packed-refs', (text) => text.split('\n').flatMap((line) => packedBranch.exec(line)?.[1] ?? []));
    this.#inside(git, 'refs', (refs) => this.#inside(refs, 'heads', (heads) => this.#branches(heads, 0)));
    // A reftable is another format, which only git reads.
    this.#inside(git, 'reftable', () => this.#giveUp());
    return { oids: [...this.#oids], whole: this.#whole };
  }

  #branches(folder: Anchor, depth: number): void {
    for (const name of folder.list()) {
      if (!this.#whole) return;
      const stat = folder.look(toBytes(name));
      if (stat?.isFile()) this.#file(folder, name, (text) => [text.trim()]);
      else if (stat?.isDirectory() && depth === maxDepth) this.#giveUp();
      else if (stat?.isDirectory()) this.#inside(folder, name, (next) => this.#branches(next, depth + 1));
    }
  }

  #inside(folder: Anchor, name: BytePath, work: (folder: Anchor) => void): void {
    const found = unlessGone(() => folder.enter(toBytes(name)));
    if (found) within(found, work);
  }

  #file(folder: Anchor, name: BytePath, tipsIn: (text: string) => string[]): void {
    using(openRegular(folder, name), (part) => {
      if (part.lengthBytes > maxBytes) return this.#giveUp();
      const bytes = Buffer.alloc(part.lengthBytes);
      const tips = tipsIn(bytes.toString('latin1', 0, readChunk(part, 0, bytes)));
      for (const tip of tips.filter((one) => oid.test(one))) this.#oids.add(tip);
      if (this.#oids.size > maxTips) this.#giveUp();
    });
  }

  #giveUp(): void {
    this.#whole = false;
  }
}

/** Whether the project's repository lacks one of these commits. Without a repository nothing can be fetched. */
export async function lacksTips(project: string, { oids, whole }: AgentTips): Promise<boolean> {
  if (oids.length === 0 && whole) return false;
  const git = await openProjectGit(project);
  if (git === null) return false;
  if (!whole) return true;
  const input = oids.map((one) => `${one}\n`).join('');
  const found = await gitOutput(git, ['cat-file', '--batch-check=%(objecttype)'], { input });
  const types = found.toString().split('\n').slice(0, oids.length);
  return types.some((type) => type !== 'commit');
}
