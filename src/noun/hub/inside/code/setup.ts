/** Which language servers are used: those of config.yaml first, then the known ones, and of these the ones that the project names. */
import { join } from 'node:path';
import { type CodeSetup, languageWords } from '../../../project/model/language.ts';
import { languageServersPath } from '../../model/spoke.ts';
import { knownServers } from '../lsp/known.ts';
import type { ServerSpec } from '../lsp/lsp.ts';

export function specsOf(root: string, { languages, servers }: CodeSetup): readonly ServerSpec[] {
  const configured = servers.map(({ command, ...rest }) => ({ ...rest, commands: [command], install: command[0]! }));
  const names = new Set(servers.map(({ name }) => name));
  const known = knownServers(join(root, 'node_modules'), join(languageServersPath, 'node_modules'));
  const all = [...configured, ...known.filter(({ name }) => !names.has(name))];
  if (languages === null) return all;
  const allowed = languages.flatMap((word) => [word, ...(languageWords[word] ?? [])]);
  return all.filter(({ name }) => allowed.includes(name));
}
