/**
 * The projects of one user: folders of the host that have an id, so that the hub and others can name them.
 *
 *   add → registered → (spoke starts) healthy ⇄ unreachable → remove
 *
 * A project needs no registration to be worked on: `carrel run DIR` takes any folder that the user owns. A registered
 * one has a spoke, the sandbox `hub-ID`, which the hub starts when it is first used. What `carrel.yaml` in a project
 * declares is a fleet (`fleet/fleet.ts`), whether or not the project is registered.
 *
 * Promises:
 * - An id belongs to one project of a user, and its folder never changes.
 * - The state is that of the spoke as the hub last saw it; it is recorded only when it changes.
 * - `remove` releases the spoke and removes its sandbox; it refuses to lose changes unless it is forced.
 */
import type { ProjectRequest, ProjectView } from './api.ts';
import type { GrantingContent } from './fleet/grants.ts';
import type { Project, SpokeState } from './model/project.ts';

export interface Projects {
  all(): Project[];
  /** Null: there is none. */
  get(id: string): Project | null;
  /** Throws if there is none. */
  find(id: string): Project;
  list(): ProjectView[];
  show(id: string): ProjectView;
  add(request: ProjectRequest): ProjectView;
  remove(id: string, force: boolean): Promise<ProjectView>;
  /** Records a change of the state of the project's spoke, unless the project was removed meanwhile. */
  observed(project: Project, state: SpokeState, reason: string | null): void;
}

/** The `carrel.yaml` of a project. */
export interface ProjectFile {
  readonly path: string;
  readonly content: GrantingContent;
}
