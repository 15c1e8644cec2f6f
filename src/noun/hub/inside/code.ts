/** What language servers know about the project. */

import type { CodeMethods } from '../model/code.ts';
import { callsOf } from './code-calls.ts';
import { diagnose } from './code-diagnose.ts';
import { locate } from './code-locate.ts';
import { specsOf } from './code-setup.ts';
import { searchSymbols, symbolsOf } from './code-symbol.ts';
import { complete, hover, signatures } from './code-text.ts';
import { readDocument } from './document.ts';
import type { CodeCall } from './inside.ts';
import type { LanguageServers } from './lsp/lsp.ts';
import { Servers } from './lsp/servers.ts';

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
