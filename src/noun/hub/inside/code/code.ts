/**
 * What language servers know about the project. Each method turns its request into one of the protocol, checks the shape of
 * the answer and translates its URIs and positions: `position.ts` and `place.ts` know how. `edit.ts` has the edits that servers
 * compute; they are only proposed, the project is changed by `edit/prepare` and `edit/apply`.
 */
import { join } from 'node:path';
import { Fault } from '../../../../model/fault.ts';
import { type CodeSetup, languageWords } from '../../../project/model/language.ts';
import {
  type CodeMethods,
  type CodePage,
  type CodeProblem,
  type FilePlaces,
  type Locate,
  type OfFile,
  severities,
} from '../../model/code.ts';
import { languageServersPath } from '../../model/spoke.ts';
import { readDocument } from '../file/document.ts';
import type { CodeCall } from '../inside.ts';
import { listOf, locations, resultOf } from '../lsp/answer/answer.ts';
import { diagnostic } from '../lsp/answer/diagnostic.ts';
import { knownServers } from '../lsp/known.ts';
import type { LanguageServers, ServerSpec } from '../lsp/lsp.ts';
import { Servers } from '../lsp/servers.ts';
import { callsOf } from './calls.ts';
import { linesOf, placesOn } from './place.ts';
import { answerOf, optionsOf, pageOf, positionOf, rangeOf } from './position.ts';
import { searchSymbols, symbolsOf } from './symbol.ts';
import { complete, hover, signatures } from './text.ts';

const maxMessageLength = 4000;

type Methods = {
  [M in keyof CodeMethods]: (root: string, request: CodeMethods[M][0], call: CodeCall) => Promise<CodeMethods[M][1]>;
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

/** Servers of config.yaml first, then the known ones, and of these the ones that the project names. */
function specsOf(root: string, { languages, servers }: CodeSetup): readonly ServerSpec[] {
  const configured = servers.map(({ command, ...rest }) => ({ ...rest, commands: [command], install: command[0]! }));
  const names = new Set(servers.map(({ name }) => name));
  const known = knownServers(join(root, 'node_modules'), join(languageServersPath, 'node_modules'));
  const all = [...configured, ...known.filter(({ name }) => !names.has(name))];
  if (languages === null) return all;
  const allowed = languages.flatMap((word) => [word, ...(languageWords[word] ?? [])]);
  return all.filter(({ name }) => allowed.includes(name));
}

/** Finds the places where a symbol is defined, used or implemented. */
async function locate(root: string, request: Locate, call: CodeCall): Promise<CodePage<FilePlaces>> {
  const { kind, at } = request;
  const options = optionsOf(request, call);
  const position = await positionOf(root, call.servers, at, options);
  const context = kind === 'references' ? { context: { includeDeclaration: true } } : {};
  const answer = await call.servers.request(at.path, `textDocument/${kind}`, { position, ...context }, options);
  return { ...answerOf(answer), ...placesOn(request, root, resultOf(answer, locations), linesOf(call.servers)) };
}

async function diagnose(_root: string, request: OfFile, call: CodeCall): Promise<CodePage<CodeProblem>> {
  const answer = await call.servers.diagnose(request.path, optionsOf(request, call));
  // A missing list does not mean that the server found nothing.
  if (answer.status !== 'timed_out' && !Array.isArray(answer.result)) {
    throw new Fault('internal', `the language server ${answer.server} sent no diagnostics`);
  }
  const problems = resultOf(answer, listOf(diagnostic)).map(({ range, severity, message, ...rest }) => ({
    ...rangeOf(request.path, range),
    ...rest,
    severity: severities[severity - 1]!,
    message: message.slice(0, maxMessageLength),
  }));
  return { ...answerOf(answer), ...pageOf(problems, request) };
}
