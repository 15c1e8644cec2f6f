/**
 * The tools of the hub as an MCP server, for one connection or one request: `streams.ts` serves lines of JSON, and the folder
 * `endpoint` serves HTTP and WebSockets. A call ends with a result, a refusal that the model can read, or a question to the
 * person at the client (`question.ts`); while it runs it reports progress (`call-progress.ts`).
 */
import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { Tool, ToolCall } from '../hub.ts';
import { CallProgress } from './call-progress.ts';
import { AnswerPending, askOf, requiredFor, verifyState } from './question.ts';
import { resultOf } from './result-text.ts';

export interface McpParts {
  readonly version: string;
  readonly tools: readonly Tool[];
  /** Calls a tool with input that was checked. */
  call(tool: Tool, input: object, call: ToolCall): Promise<object>;
  /** Why the caller may not use a tool that exists; null: it may, or there is no such tool. */
  refusal?(tool: string): Fault | null;
}

const instructions =
  'Each tool works on one project, named by its id: list_projects lists them. Paths are relative to the project (src/main.ts), or as ' +
  'results name them (/workspaces/ID/src/main.ts). Commands run in the sandbox of the project.';

/** Loaded for the first client, so that a daemon without clients starts faster. */
export const loadSdk = once(() => import('@modelcontextprotocol/server'));
export const loadStdio = once(() => import('@modelcontextprotocol/server/stdio'));

/** Keeps the first result; importing a loaded module again costs every request a look-up in the module table. */
function once<A extends readonly unknown[], R>(make: (...given: A) => R): (...given: A) => R {
  let made: { readonly result: R } | undefined;
  return (...given) => {
    made ??= { result: make(...given) };
    return made.result;
  };
}

export async function createServer(parts: McpParts): Promise<McpServer> {
  const { McpServer } = await loadSdk();
  const options = { instructions, requestState: { verify: verifyState } };
  return withTools(new McpServer({ name: 'carrel', version: parts.version }, options), parts);
}

/** Output schemas are left out: they would be a third of the tokens that the list of tools costs a client. */
function withTools(server: McpServer, parts: McpParts): McpServer {
  for (const tool of parts.tools) {
    server.registerTool(
      tool.name,
      {
        description: tool.description,
        inputSchema: cachedJsonSchema(tool.input),
        annotations: {
          readOnlyHint: !tool.changes,
          destructiveHint: tool.destroys,
          openWorldHint: tool.group === 'run',
        },
      },
      (input, context) => answered(parts, tool, input, { server, context }),
    );
  }
  return server;
}

interface CallContext {
  readonly server: McpServer;
  readonly context: ServerContext;
}

async function answered(
  parts: McpParts,
  tool: Tool,
  input: object,
  { server, context }: CallContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal } = context.mcpReq;
  const progress = new CallProgress(context);
  const report = (message: string) => progress.report(message);
  try {
    const result = await parts.call(tool, input, { signal, report, ask: askOf(server, context) });
    return resultOf({ ...result });
  } catch (error) {
    return error instanceof AnswerPending ? requiredFor(error.question) : refusal(asFault(error));
  } finally {
    await progress.read();
  }
}

/** The model reads `content`; programs read `_meta`. */
function refusal({ code, message, hint, data }: Fault): CallToolResult {
  const text = `${code}: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}`;
  return { isError: true, content: [{ type: 'text', text }], _meta: { fault: { code, message, hint, data } } };
}

type Standard = z.ZodObject['~standard'];
const schemas = new WeakMap<z.ZodObject, { readonly '~standard': Standard }>();

/** The MCP package converts a schema to JSON Schema in every server that it makes, which over HTTP is every request. Here it is converted once. */
function cachedJsonSchema(schema: z.ZodObject): { readonly '~standard': Standard } {
  const known = schemas.get(schema);
  if (known) return known;
  const standard = schema['~standard'];
  const { input, output } = standard.jsonSchema;
  // The package always asks for the same target.
  const made = { '~standard': { ...standard, jsonSchema: { input: once(input), output: once(output) } } };
  schemas.set(schema, made);
  return made;
}
