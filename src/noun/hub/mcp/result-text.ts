/** Results of tools as JSON. The text of a result is the JSON of its structured content, so a transport need not make that again. */
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/server';

const texts = new WeakMap<object, string>();

export function resultOf(structuredContent: Record<string, unknown>): CallToolResult {
  const text = JSON.stringify(structuredContent);
  texts.set(structuredContent, text);
  return { content: [{ type: 'text', text }], structuredContent };
}

/** If the MCP package has copied the structured content, its text is not known and the message is converted again. */
export function messageText(message: JSONRPCMessage): string {
  const { result, ...head } = message as JSONRPCMessage & { readonly result?: CallToolResult };
  const text = texts.get(result?.structuredContent ?? texts);
  if (text === undefined) return JSON.stringify(message);
  const { structuredContent, ...rest } = result!;
  return `${JSON.stringify({ ...head, result: rest }).slice(0, -2)},"structuredContent":${text}}}`;
}
