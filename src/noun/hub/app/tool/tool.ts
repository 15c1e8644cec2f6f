/**
 * How tools of the hub are declared here. A tool gets checked input and the scope of its caller (`ToolScope`), which
 * answers for projects that the caller may name and for no others. The other files of this folder declare the tools,
 * one file per group; `user-hub.ts` lists them.
 */
import { z } from 'zod';
import { Fault } from '../../../../model/fault.ts';
import type { Project } from '../../../project/model/project.ts';
import type { Tool, ToolCall } from '../../hub.ts';
import type { FileChange } from '../../model/edit.ts';
import type { SpokeMethod, SpokeMethods } from '../../model/spoke.ts';
import type { CallRoute, SwarmRoute } from '../call-route.ts';
import type { ProjectEdit } from '../edits.ts';
import type { Environments } from '../environments.ts';
import type { ToolMemory } from '../hub-memory.ts';
import type { HubRooms } from '../hub-rooms.ts';

/** What tools use: the projects that the caller may name, their spokes and environments, routes of the API, and rooms. */
export interface ToolScope {
  list(): readonly Project[];
  /** Throws `not_found` also for a project that the caller may not name. */
  find(id: string): Project;
  call<M extends SpokeMethod>(
    project: string,
    method: M,
    request: SpokeMethods[M][0],
    call: ToolCall,
  ): Promise<SpokeMethods[M][1]>;
  /** Applies all changes in all projects, or none; with `dryRun` only answers what they would do. */
  edit(changes: readonly ProjectChange[], dryRun: boolean, call: ToolCall): Promise<readonly ProjectEdit[]>;
  readonly environments: Environments;
  /** Sandboxes are reached through `environments` alone, which checks that the caller may name their project. */
  readonly callRoute: CallRoute<SwarmRoute>;
  readonly rooms: HubRooms;
  readonly memory: ToolMemory;
  /** Whether changes that are not gated are applied without asking. */
  readonly mayApply: boolean;
}

/** A change of a file in one of several projects. */
export interface ProjectChange {
  readonly project: string;
  readonly change: FileChange;
}

export interface HubTool extends Tool<ToolScope> {
  /** The result already has the hub's paths; results of other tools are translated. */
  readonly namesHubPaths?: true;
}

interface Declaration<I extends z.ZodObject> extends Omit<HubTool, 'input' | 'run'> {
  readonly input: I;
  run(input: z.output<I>, scope: ToolScope, call: ToolCall): Promise<object>;
}

export function tool<I extends z.ZodObject>(declaration: Declaration<I>): HubTool {
  return declaration as unknown as HubTool;
}

export const project = z.string().max(48);
export const path = z.string().max(4200);
export const environment = z.string().min(1).max(63).describe('name of an environment');
export const dryRun = z.boolean().default(false).describe('change nothing, answer what would be done');
export const limit = z.int().min(1).max(1000).default(200);
export const cursor = z.string().max(5000).optional().describe('next_cursor');
export const nextCursor = z.string().optional();

/** The number of items to skip, for a cursor that counts items. */
export function skipOf(given: string | undefined): number {
  if (given === undefined) return 0;
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new Fault('invalid', 'cursor is not the next_cursor of a page', { data: { field: 'cursor' } });
}

export { inProject } from './view.ts';
