/** What language servers know about the project. */
import { join } from 'node:path';
import { knownServers } from '../../lsp/known.ts';
import type { LanguageServers } from '../../lsp/lsp.ts';
import { Servers } from '../../lsp/servers.ts';
import type { CodeMethods } from '../../model/code.ts';
import { languageServersPath } from '../../model/spoke.ts';
import { type CodeCall, locate } from './code-locate.ts';
import { readDocument } from './document.ts';

export type { CodeCall };

type Methods = {
  [M in keyof CodeMethods]: (root: string, asked: CodeMethods[M][0], call: CodeCall) => Promise<CodeMethods[M][1]>;
};

export const codeMethods: Methods = { 'code/locate': locate };

export function serversOf(root: string): LanguageServers {
  const specs = knownServers(languageServersPath, join(root, 'node_modules'));
  return new Servers({ root, specs, read: (path) => readDocument(root, path) });
}
