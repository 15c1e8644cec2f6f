/** The hub of one user. Every call of a tool that changes something is in the audit log before it is answered. */
import { PassThrough } from 'node:stream';
import { z } from 'zod';
import type { Audit, OpenAct } from '../../../kernel/audit/audit.ts';
import { endWith } from '../../../kernel/server/route.ts';
import { validated } from '../../../lib/schema/validated.ts';
import type { FramedConnection } from '../../../lib/wire/framed-connection.ts';
import { Fault } from '../../../model/fault.ts';
import { checkProjectId, type Project } from '../../project/model/project.ts';
import type { Projects } from '../../project/project.ts';
import { offeredTools } from '../../tools.ts';
import type { ToolView } from '../api.ts';
import { type HubCaller, socketCaller, type Tool, type ToolCall } from '../hub.ts';
import type { McpParts } from '../mcp/mcp.ts';
import { serveStreams } from '../mcp/streams.ts';
import { defaultGroups, type ToolGroup } from '../model/token.ts';
import type { SpokeStreams } from '../spoke/spoke.ts';
import { missingScope } from '../token/resource-server.ts';
import type { Edits, ProjectChanges } from './edits.ts';
import type { Spokes } from './spoke/spokes.ts';
import { codeTools } from './tool/code.ts';
import { codeEditTools } from './tool/code-edits.ts';
import { environmentTools } from './tool/environment.ts';
import { fileTools } from './tool/files.ts';
import { projectTools } from './tool/projects.ts';
import { refactorTools } from './tool/refactor.ts';
import { runTools } from './tool/run.ts';
import type { HubTool, ProjectChange, ToolScope } from './tool/tool.ts';
import { hubResult } from './tool/view.ts';

export const hubTools: readonly HubTool[] = [
  ...projectTools,
  ...runTools,
  ...fileTools,
  ...codeTools,
  ...codeEditTools,
  ...refactorTools,
  ...environmentTools,
  ...offeredTools,
];

export interface UserHubParts {
  readonly user: string;
  readonly version: string;
  readonly audit: Pick<Audit, 'begin'>;
  readonly spokes: Pick<Spokes, 'call' | 'accept'>;
  readonly edits: Edits;
  readonly projects: Pick<Projects, 'all' | 'get'>;
  /** The environments, routes, rooms and memory that tools of this caller use. */
  actsOf(caller: HubCaller): Acts;
}

type Acts = Pick<ToolScope, 'environments' | 'callRoute' | 'rooms' | 'memory'>;

/** Groups whose tools call routes, which log each act; a room is the record of its posts. */
const loggedElsewhere: readonly ToolGroup[] = ['environment', 'swarm', 'rooms'];

export class UserHub {
  readonly #parts: UserHubParts;

  constructor(parts: UserHubParts) {
    this.#parts = parts;
  }

  tools(caller = socketCaller): ToolView[] {
    return toolsOf(caller).map(({ name, group, description, changes, input, output }) => {
      const [inputSchema, outputSchema] = [schemaOf(input, 'input'), schemaOf(output, 'output')];
      return { name, group, description, changes, inputSchema, outputSchema };
    });
  }

  async callByName(name: string, input: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    const tool = toolsOf(socketCaller).find((one) => one.name === name);
    if (!tool) throw noTool(name);
    const checked = validated(tool.input, input, 'input');
    return { ...(await this.#call(socketCaller, tool, checked, { signal, report: () => {}, ask: null })) };
  }

  /** What MCP clients of this caller get. */
  mcp(caller: HubCaller): McpParts {
    const { version } = this.#parts;
    const call = (tool: Tool, input: object, how: ToolCall) => this.#call(caller, tool as HubTool, input, how);
    return { version, tools: toolsOf(caller), call, refusal: (name) => scopeRefusal(caller, name) };
  }

  /** The project of a spoke that runs elsewhere; refuses a project whose spoke runs here. */
  elsewhere(id: string): Project {
    const project = this.#parts.projects.get(id);
    if (project === null) {
      throw new Fault('not_found', `no project ${checkProjectId(id)}`, {
        hint: `Add it with: carrel project add --mode elsewhere --name ${id}`,
      });
    }
    if (project.mode === 'elsewhere') return project;
    throw new Fault('conflict', `the spoke of project ${id} is a sandbox of this machine`, {
      hint: `carrel project rm ${id}, then carrel project add --mode elsewhere --name ${id}`,
    });
  }

  acceptSpoke(id: string, streams: SpokeStreams): Promise<void> {
    return this.#parts.spokes.accept(this.elsewhere(id), streams);
  }

  /** Serves one MCP client until it goes away. */
  async serve(connection: FramedConnection, caller = socketCaller): Promise<void> {
    const input = new PassThrough();
    const output = new PassThrough();
    input.on('drain', () => connection.deliver());
    connection.onFrame = ({ type, payload }) => {
      if (type !== 'stdin') return true;
      if (payload.length > 0) return input.write(payload);
      input.end();
      return true;
    };
    connection.onGone = () => void input.destroy();
    connection.deliver();
    const sent = connection.forward('stdout', output);
    await serveStreams(this.mcp(caller), input, output);
    output.end();
    await sent;
    if (!connection.gone) connection.finish('exit', { exitCode: 0, signal: null, outOfMemory: false });
  }

  /** Reverts or finishes edits that an earlier daemon left. */
  async settle(report: (project: string, error: unknown) => void): Promise<void> {
    const { edits } = this.#parts;
    await Promise.all(edits.unsettled().map((id) => edits.settle(id).catch((error: unknown) => report(id, error))));
  }

  async #call(caller: HubCaller, tool: HubTool, input: object, call: ToolCall): Promise<object> {
    const openAct = this.#begin(caller, tool, input);
    try {
      const answer = await tool.run(input as never, this.#scopeOf(caller), call);
      openAct?.end('ok');
      return shownAtHub(tool, input, answer);
    } catch (error) {
      if (openAct) endWith(openAct, error);
      throw error;
    }
  }

  /** A project that the caller may not name is answered like one that does not exist. */
  #scopeOf(caller: HubCaller): ToolScope {
    const { projects, spokes, edits } = this.#parts;
    const isNamed = (id: string) => caller.projects === '*' || caller.projects.includes(id);
    const list = () => projects.all().filter(({ id }) => isNamed(id));
    const find = (id: string) => (isNamed(id) ? projects.get(id) : null) ?? missing(id, list());
    // Made when first used, because most calls need none of them.
    let known: Acts | undefined;
    const acts = () => (known ??= this.#parts.actsOf(caller));
    return {
      get environments() {
        return acts().environments;
      },
      get callRoute() {
        return acts().callRoute;
      },
      get rooms() {
        return acts().rooms;
      },
      get memory() {
        return acts().memory;
      },
      mayApply: caller.groups.includes('apply'),
      list,
      find,
      call: async (id, method, request, { signal, report }) => {
        const found = find(id);
        if (edits.isOpen(id)) await edits.settle(id);
        return spokes.call(found, method, request, { signal, onOutput: report });
      },
      edit: (changes, dryRun, { signal }) => {
        const edit = byProject(changes, find);
        return dryRun ? edits.preview(edit) : edits.apply(edit, signal);
      },
    };
  }

  /**
   * Null: the call changes nothing, or is logged elsewhere. The line names the token or the sandbox, whatever the
   * outcome.
   */
  #begin(caller: HubCaller, { name, group, changes }: HubTool, input: object): OpenAct | null {
    const { dry_run } = input as { dry_run?: boolean };
    if (!changes || dry_run || loggedElsewhere.includes(group)) return null;
    const targets = projectsIn(input).map((id) => ({ name: id }));
    const { user, audit } = this.#parts;
    const openAct = audit.begin({ user, as: null, verb: `hub.${name}`, targets, peer: null });
    if (caller.name === socketCaller.name) return openAct;
    const detail = caller.sandbox === undefined ? { token: caller.name } : { sandbox: caller.sandbox };
    return { end: (outcome, found) => openAct.end(outcome, { ...found, detail: { ...detail, ...found?.detail } }) };
  }
}

function schemaOf(shape: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(shape, { io });
  return schema;
}

function toolsOf({ groups }: HubCaller): HubTool[] {
  return hubTools.filter(({ group }) => groups.includes(group));
}

/** Names the group, which is no secret, so that a client can ask for a token with it. */
function scopeRefusal({ groups }: HubCaller, name: string): Fault | null {
  const group = hubTools.find((tool) => tool.name === name)?.group;
  return group === undefined || groups.includes(group) ? null : missingScope(group, name, groups);
}

function noTool(name: string): Fault {
  const group = hubTools.find((tool) => tool.name === name)?.group;
  if (group === undefined)
    return new Fault('not_found', `the hub has no tool ${name}`, { hint: 'carrel hub tools lists them.' });
  return new Fault('denied', `${name} is in the group ${group}, which hub call does not offer`, {
    hint: `An MCP client gets it from: carrel hub serve --tools ${[...defaultGroups, group].join(',')}`,
  });
}

/** The projects that a call names. */
function projectsIn(input: object): string[] {
  const { project, projects, changes } = input as {
    project?: string;
    projects?: string[];
    changes?: { project: string }[];
  };
  return [...new Set([project ?? [], projects ?? [], changes?.map((change) => change.project) ?? []].flat())];
}

function byProject(changes: readonly ProjectChange[], find: (id: string) => Project): ProjectChanges[] {
  const ids = [...new Set(changes.map(({ project }) => project))];
  return ids.map((id) => ({
    project: find(id),
    changes: changes.filter(({ project }) => project === id).map(({ change }) => change),
  }));
}

function missing(id: string, known: readonly Project[]): never {
  const names = known.map((one) => one.id).join(', ');
  const hint = names === '' ? 'Add one with: carrel project add DIR' : `There are: ${names}`;
  throw new Fault('not_found', `no project ${checkProjectId(id)}`, { hint });
}

/** Paths of an environment are not translated: they are those of its working copy, which the hub does not see. */
function shownAtHub({ group, namesHubPaths }: HubTool, input: object, answer: object): object {
  if (namesHubPaths || (group !== 'files' && group !== 'code')) return answer;
  return hubResult('project' in input ? String(input.project) : '', answer);
}
