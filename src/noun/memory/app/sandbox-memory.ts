/** The memory for sandboxes: what the record of a sandbox grants, looked up for each call. */
import { z } from 'zod';
import { validated } from '../../../lib/schema/validated.ts';
import { Fault } from '../../../model/fault.ts';
import { sessionAgentLabel } from '../../agent/model/agent.ts';
import type { ToolMemory } from '../../hub/app/hub-memory.ts';
import type { Tool, ToolCall } from '../../hub/hub.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { type MemoryGrant, type MemoryScope, type ScopeKind, scopeKind, type Writer } from '../model/memory.ts';
import type { SandboxTools } from '../sandbox-endpoint.ts';
import { CallerMemory, type CallerParts, type Reach } from './caller-memory.ts';

type MemoryTool = Tool<{ readonly memory: ToolMemory }>;

export interface SandboxMemoryParts extends Pick<CallerParts, 'liveMemories' | 'report'> {
  readonly find: (id: string) => Sandbox | null;
  readonly tools: readonly MemoryTool[];
  /** The session whose turn runs in the sandbox; null: there is none, or more than one. */
  readonly sessionOf: (sandbox: Sandbox) => Promise<string | null>;
}

const call: ToolCall = { signal: AbortSignal.any([]), report: () => {}, ask: null };

export class SandboxMemory implements SandboxTools {
  readonly #parts: SandboxMemoryParts;

  constructor(parts: SandboxMemoryParts) {
    this.#parts = parts;
  }

  tools(id: string): readonly object[] {
    const isReadonly = grantsOf(this.#require(id)).every(({ readonly }) => readonly);
    return this.#parts.tools.filter(({ changes }) => !changes || !isReadonly).map(listedTool);
  }

  async call(id: string, name: string, input: unknown): Promise<object> {
    const sandbox = this.#require(id);
    const tool = this.#parts.tools.find((one) => one.name === name);
    if (tool === undefined) throw new Fault('not_found', `the memory has no tool ${name}`);
    const memory = await this.#memoryOf(sandbox);
    return tool.run(validated(tool.input, input, 'input') as never, { memory }, call);
  }

  async #memoryOf(sandbox: Sandbox): Promise<ToolMemory> {
    const { liveMemories, report } = this.#parts;
    const [user, writer, reach] = [sandbox.spec.user, await this.#writer(sandbox), reachOf(sandbox)];
    return new CallerMemory({ liveMemories, report, user, writer, reach, via: 'sandbox' });
  }

  /** A grant may be gone while the port is still open. */
  #require(id: string): Sandbox {
    const sandbox = this.#parts.find(id);
    if (sandbox !== null && grantsOf(sandbox).length > 0) return sandbox;
    throw new Fault('denied', 'this sandbox has no scope of the memory', {
      hint: 'Its user can create it with --memory-scope.',
    });
  }

  async #writer(sandbox: Sandbox): Promise<Writer> {
    const { id, name, spec } = sandbox;
    const agent = spec.labels[sessionAgentLabel] ?? null;
    return { kind: 'sandbox', name, id, agent, session: await this.#parts.sessionOf(sandbox) };
  }
}

function grantsOf({ spec }: Sandbox): readonly MemoryGrant[] {
  return spec.memoryScopes ?? [];
}

function reachOf(sandbox: Sandbox): Reach {
  const grants = grantsOf(sandbox);
  const scopeOf = (kind: ScopeKind): MemoryScope => {
    if (kind === 'user') return 'user';
    return kind === 'sandbox' ? `sandbox:${sandbox.id}` : `project:${sandbox.spec.project}`;
  };
  const named = (place: string) => {
    const found = grants.find(({ scope }) => scope === scopeKind(place as MemoryScope));
    if (found === undefined) {
      throw new Fault('denied', `this sandbox does not have the scope ${place}`, {
        hint: 'Its user can create it with --memory-scope.',
      });
    }
    return found;
  };
  return {
    readable: (place) => (place === undefined ? grants : [named(place)]).map(({ scope }) => scopeOf(scope)),
    writable: (place) => {
      const grant = place === undefined ? grants.find(({ readonly }) => !readonly) : named(place);
      if (grant !== undefined && !grant.readonly) return scopeOf(grant.scope);
      throw new Fault('denied', 'this sandbox only reads the memory', {
        hint: 'Its user can create it with --memory-scope, without :ro.',
      });
    },
  };
}

/** The tool in the form of `tools/list` of MCP. */
function listedTool({ name, description, input, changes, destroys }: MemoryTool): object {
  const { $schema, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  return { name, description, inputSchema, annotations: { readOnlyHint: !changes, destructiveHint: destroys } };
}
