/** Where something is defined, used or implemented. */
import type { LanguageServers } from '../../lsp/lsp.ts';
import { listOf, locationOrLink, resultOf } from '../../lsp/shape.ts';
import type { CodePage, CodePlace, Locate } from '../../model/code.ts';
import { answerOf, placesOf, positionOf, withText } from './code-position.ts';

export interface CodeCall {
  readonly signal: AbortSignal;
  readonly servers: LanguageServers;
}

export async function locate(root: string, asked: Locate, { servers, signal }: CodeCall): Promise<CodePage<CodePlace>> {
  const { kind, at, limit, skip, timeoutMs } = asked;
  const options = { signal, timeoutMs };
  const position = await positionOf(root, servers, at, options);
  const context = kind === 'references' ? { context: { includeDeclaration: true } } : {};
  const answer = await servers.request(at.path, `textDocument/${kind}`, { position, ...context }, options);
  const places = placesOf(root, resultOf(answer, listOf(locationOrLink)));
  const page = places.slice(skip, skip + limit);
  return { ...answerOf(answer), items: withText(root, page), more: places.length > skip + limit };
}
