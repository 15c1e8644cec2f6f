/**
 * What language servers know about the project. Each method turns its request into one of the protocol, checks the shape of
 * the answer and translates its URIs and positions: `position.ts` and `place.ts` know how. `edit.ts` has the edits that servers
 * compute; they are only proposed, the project is changed by `edit/prepare` and `edit/apply`.
 */
import type { CodeMethods } from '../../model/code.ts';
import { readDocument } from '../file/document.ts';
import type { CodeCall } from '../inside.ts';
import type { LanguageServers } from '../lsp/lsp.ts';
import { Servers } from '../lsp/servers.ts';
import { callsOf } from './calls.ts';
import { diagnose } from './diagnose.ts';
import { locate } from './locate.ts';
import { specsOf } from './setup.ts';
import { searchSymbols, symbolsOf } from './symbol.ts';
import { complete, hover, signatures } from './text.ts';

type Methods = {
  [M in keyof CodeMethods]: (root: string, asked: CodeMethods[M][0], call: CodeCall) => Promise<CodeMethods[M][1]>;
};

export const codeMethods: Methods = {
  'code/setup': async (root, setup, { servers }) => {
    servers.configure(specsOf(root, setup));
    return {};
  },
  'code/locate': locate,
  'code/hover': hover,
  'code/symbols': symbolsOf,
  'code/search': searchSymbols,
  'code/signature': signatures,
  'code/complete': complete,
  'code/diagnose': diagnose,
  'code/calls': callsOf,
};

export function serversOf(root: string): LanguageServers {
  const specs = specsOf(root, { languages: null, servers: [] });
  return new Servers({ root, specs, read: (path) => readDocument(root, path) });
}
