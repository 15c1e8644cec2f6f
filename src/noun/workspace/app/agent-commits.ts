/**
 * `fetch` and `log`: the commits of an agent become refs of the project's repository, and its files stay as they are.
 */

import { Fault } from '../../../model/fault.ts';
import type { FetchView, LogView } from '../api.ts';
import { agentLog } from '../git/bundle/agent-log.ts';
import { openProjectGit } from '../git/project-git.ts';
import { fetchCommits } from './commits.ts';
import { type OpenedWorkspace, openWorkspace, requireFolder, type WorkspaceParts } from './workspaces.ts';

export class AgentCommits {
  readonly #parts: WorkspaceParts;

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  async fetch(name: string): Promise<FetchView> {
    return { commits: await this.#fetched(await this.#open(name)) };
  }

  /** The current commits of the agent: new ones are fetched first. */
  async log(name: string, limit: number): Promise<LogView> {
    const opened = await this.#open(name);
    await this.#fetched(opened);
    const commits = await agentLog(opened.place.project, opened.sandbox.name, limit);
    return { commits: commits.map((one) => ({ ...one, refs: [...one.refs] })) };
  }

  async #open(name: string): Promise<OpenedWorkspace> {
    const opened = await openWorkspace(this.#parts, name);
    const { project } = opened.place;
    requireFolder(project, opened.sandbox);
    if ((await openProjectGit(project)) !== null) return opened;
    throw new Fault('unsupported', `${project} has no git repository of its own`, {
      hint: `Take the files: carrel apply ${name}. Or begin a repository there: git init`,
    });
  }

  #fetched({ sandbox }: OpenedWorkspace): Promise<FetchView['commits']> {
    return this.#parts.locks.run(`commits:${sandbox.id}`, () => fetchCommits(this.#parts, sandbox));
  }
}
