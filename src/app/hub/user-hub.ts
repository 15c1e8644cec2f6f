/** The hub of one user. Every call of a tool that changes something is in the audit log before it is answered. */
import { PassThrough } from 'node:stream';
import { z } from 'zod';
import type { FramedConnection } from '../../api/framed-connection.ts';
import type { ToolView } from '../../api/hub.ts';
import { validated } from '../../api/validated.ts';
import type { Audit, Begun } from '../../audit/audit.ts';
import type { Tool, ToolCall } from '../../hub/hub.ts';
import { serveStreams } from '../../hub/mcp.ts';
import { Fault } from '../../model/fault.ts';
import type { Project } from '../../model/project.ts';
import { endWith } from '../route.ts';
import type { Spokes } from './spokes.ts';
import { fileTools } from './tool/files.ts';
import { runTools } from './tool/run.ts';
import type { HubTool, ToolScope } from './tool/tool.ts';

export const hubTools: readonly HubTool[] = [...runTools, ...fileTools];

export interface HubParts {
  readonly user: string;
  readonly version: string;
  readonly audit: Pick<Audit, 'begin'>;
  readonly spokes: Pick<Spokes, 'call'>;
  readonly projects: { all(): readonly Project[]; find(id: string): Project };
}

export class UserHub {
  readonly #parts: HubParts;
  readonly #scope: ToolScope;

  constructor(parts: HubParts) {
    const { projects, spokes } = parts;
    this.#parts = parts;
    this.#scope = {
      list: () => projects.all(),
      find: (id) => projects.find(id),
      call: (id, method, asked, { signal, report }) =>
        spokes.call(projects.find(id), method, asked, { signal, onOutput: report }),
    };
  }

  tools(): ToolView[] {
    return hubTools.map(({ name, group, description, changes, input }) => {
      const { $schema, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
      return { name, group, description, changes, inputSchema };
    });
  }

  async callByName(name: string, input: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    const tool = hubTools.find((one) => one.name === name);
    if (!tool) throw new Fault('not_found', `the hub has no tool ${name}`, { hint: 'carrel hub tools lists them.' });
    const checked = validated(tool.input, input, 'input');
    return { ...(await this.#call(tool, checked, { signal, report: () => {} })) };
  }

  /** Serves one MCP client until it goes away. */
  async serve(connection: FramedConnection): Promise<void> {
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
    const { version } = this.#parts;
    const call = (tool: Tool, asked: object, how: ToolCall) => this.#call(tool as HubTool, asked, how);
    void connection.forward('stdout', output);
    await serveStreams({ version, tools: hubTools, call }, input, output);
    if (!connection.gone) connection.finish('exit', { exitCode: 0, signal: null, outOfMemory: false });
  }

  async #call(tool: HubTool, input: object, call: ToolCall): Promise<object> {
    const begun = this.#begin(tool, input);
    try {
      const answer = await tool.run(input as never, this.#scope, call);
      begun?.end('ok');
      return answer;
    } catch (error) {
      if (begun) endWith(begun, error);
      throw error;
    }
  }

  /** Null where nothing is changed. */
  #begin({ name, changes }: HubTool, input: object): Begun | null {
    const { project, projects, dry_run } = input as { project?: string; projects?: string[]; dry_run?: boolean };
    if (!changes || dry_run) return null;
    const targets = [project ?? [], projects ?? []].flat().map((id) => ({ name: id }));
    return this.#parts.audit.begin({ user: this.#parts.user, as: null, verb: `hub.${name}`, targets, peer: null });
  }
}
