/** Finds the places where a symbol is defined, used or implemented. */

import type { CodePage, FilePlaces, Locate } from '../../model/code.ts';
import type { CodeCall } from '../inside.ts';
import { locations, resultOf } from '../lsp/answer/answer.ts';
import { linesOf, placesOn } from './place.ts';
import { answerOf, optionsOf, positionOf } from './position.ts';

export async function locate(root: string, asked: Locate, call: CodeCall): Promise<CodePage<FilePlaces>> {
  const { kind, at } = asked;
  const options = optionsOf(asked, call);
  const position = await positionOf(root, call.servers, at, options);
  const context = kind === 'references' ? { context: { includeDeclaration: true } } : {};
  const answer = await call.servers.request(at.path, `textDocument/${kind}`, { position, ...context }, options);
  return { ...answerOf(answer), ...placesOn(asked, root, resultOf(answer, locations), linesOf(call.servers)) };
}
