/** Messages of the Agent Client Protocol, as JSON-RPC, and the parameters that are read of them. */
import type { Fault, FaultCode } from '../../../../../model/fault.ts';
import { list, plainObject, type Shape, ShapeError, text } from '../../../../../model/shape.ts';
import { type ContentBlock, promptContent, sessionId } from '../../../model/session.ts';

export type Params = Readonly<Record<string, unknown>>;

export interface AcpMessage {
  readonly id?: string | number;
  /** Left out: the message is a response. */
  readonly method?: string;
  readonly params: Params;
  readonly result?: Params;
}

export const message: Shape<AcpMessage> = (value, path) => {
  const { jsonrpc, id, method, params, result } = plainObject(value, path);
  if (jsonrpc !== '2.0') throw new ShapeError([...path, 'jsonrpc'], 'must be "2.0"');
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number')
    throw new ShapeError([...path, 'id'], 'must be text or a number');
  return {
    ...(id === undefined || id === null ? {} : { id }),
    ...(method === undefined ? {} : { method: text({ max: 200 })(method, [...path, 'method']) }),
    params: params === undefined || params === null ? {} : plainObject(params, [...path, 'params']),
    ...(result === undefined || result === null ? {} : { result: plainObject(result, [...path, 'result']) }),
  };
};

export function idOf(params: Params): string {
  return sessionId(params.sessionId, ['sessionId']);
}

export function nameOf(params: Params, name: string): string {
  return text({ min: 1, max: 200 })(params[name], [name]);
}

/** Keeps only the fields that the log has; annotations, for example, are dropped. */
export function blocksOf(prompt: unknown): readonly ContentBlock[] {
  return promptContent(list(plainObject, 1000)(prompt, ['prompt']).map(blockOf), ['prompt']);
}

function blockOf({ type, ...block }: Params): unknown {
  const resource = block.resource as Params | undefined;
  if (type === 'text') return { type, text: block.text };
  if (type === 'image') return { type, mimeType: block.mimeType, data: block.data };
  if (type === 'resource_link') return { type, uri: block.uri, name: block.name };
  if (type === 'resource' && typeof resource?.text === 'string')
    return { type: 'text', text: `${resource.uri}:\n${resource.text}` };
  return { type };
}

const codes: Partial<Record<FaultCode, number>> = { invalid: -32602, unsupported: -32601, not_found: -32002 };
const internalError = -32603;

export function errorOf({ code, message, hint }: Fault): object {
  return { code: codes[code] ?? internalError, message, data: { code, ...(hint === undefined ? {} : { hint }) } };
}
