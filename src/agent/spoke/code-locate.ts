/** Where something is defined, used or implemented. */
import { listOf, locationOrLink, resultOf } from '../../lsp/shape.ts';
import type { CodePage, CodePlace, Locate } from '../../model/code.ts';
import type { CodeCall } from './code-call.ts';
import { answerOf, optionsOf, pageOf, placesOf, positionOf, withText } from './code-position.ts';

export async function locate(root: string, asked: Locate, call: CodeCall): Promise<CodePage<CodePlace>> {
  const { kind, at } = asked;
  const options = optionsOf(asked, call);
  const position = await positionOf(root, call.servers, at, options);
  const context = kind === 'references' ? { context: { includeDeclaration: true } } : {};
  const answer = await call.servers.request(at.path, `textDocument/${kind}`, { position, ...context }, options);
  const { items, more } = pageOf(placesOf(root, resultOf(answer, listOf(locationOrLink))), asked);
  return { ...answerOf(answer), items: withText(call.servers, items), more };
}
