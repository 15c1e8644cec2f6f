/** The sample project on disk, a git repository like any other. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { absolute } from '../../../../client/paths.ts';
import { run } from '../../../../lib/process/run.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { sampleFiles } from './sample.ts';

/** The folder that the user named, which must be new or empty; without a name, a temporary folder. */
export function newFolder(path: string | undefined): string {
  if (path === undefined) return mkdtempSync(join(tmpdir(), 'carrel-demo-'));
  const folder = absolute(path, 'DIR');
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new Fault('invalid', `${printable(folder)} is not a folder`, { hint: 'Name one that is new or empty.' });
  }
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new Fault('conflict', `there is something in ${folder} already`, {
      hint: 'Name a folder that is new or empty.',
    });
  }
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Override the user's git settings, so that the demo does not depend on them. */
const settings = [
  ...['-c', 'user.name=Carrel', '-c', 'user.email=demo@carrel.invalid', '-c', 'init.defaultBranch=main'],
  ...['-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.pager=cat', '-c', 'color.ui=never'],
];

export class DemoProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(folder: string): Promise<DemoProject> {
    const made = new DemoProject(folder);
    const { project, tasks } = sampleFiles(new Date().toISOString().slice(0, 10));
    for (const [name, content] of Object.entries({ ...project, ...tasks })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    await made.#git('init', '--quiet');
    await made.#git('add', '--all');
    await made.#git('commit', '--quiet', '--message', 'Add tally');
    return made;
  }

  commitsOn(ref: string): Promise<string> {
    return this.#git('log', '--reverse', '--format=%h %s', `HEAD..${ref}`);
  }

  /** The diff of a commit, of the library only. */
  show(commit: string): Promise<string> {
    return this.#git('show', '--format=%s', '--unified=1', commit, '--', 'src');
  }

  /** Merges one ref after the other; resolves to the diffstat of all merges. */
  async merge(refs: readonly string[]): Promise<string> {
    const before = (await this.#git('rev-parse', 'HEAD')).trim();
    for (const ref of refs) await this.#git('merge', '--quiet', '--no-ff', '--no-edit', ref);
    return this.#git('diff', '--stat', before);
  }

  async #git(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await run(['git', ...settings, '-C', this.folder, ...args]);
    if (exitCode === 0) return stdout;
    throw new Fault('internal', `git ${args[0]} in ${this.folder}: ${stderr.trim() || stdout.trim()}`);
  }
}
