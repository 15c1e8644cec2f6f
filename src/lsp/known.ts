/** The language servers that are known without configuration. */
import { basename, extname } from 'node:path';
import type { ServerSpec } from './lsp.ts';

const renames = { preferences: { useAliasesForRenames: false } };
const platform = `@typescript/typescript-linux-${process.arch}`;

/** `carrel`: where those that come with Carrel are; `modules`: the packages of the project. */
export function knownServers(carrel: string, modules: string): readonly ServerSpec[] {
  return [
    {
      name: 'typescript',
      languages: {
        '.ts': 'typescript',
        '.mts': 'typescript',
        '.cts': 'typescript',
        '.tsx': 'typescriptreact',
        '.js': 'javascript',
        '.mjs': 'javascript',
        '.cjs': 'javascript',
        '.jsx': 'javascriptreact',
      },
      commands: [
        [`${modules}/${platform}/lib/tsc`, '--lsp', '--stdio'],
        [`${carrel}/typescript/lib/tsc`, '--lsp', '--stdio'],
      ],
      install: 'npm install --save-dev typescript@7 in the project',
      // A rename at a use would otherwise become `import { a as b }`.
      settings: { 'js/ts': renames, typescript: renames, javascript: renames },
    },
  ];
}

/** Null: the server is not for it. */
export function languageOf({ languages }: ServerSpec, path: string): string | null {
  return languages[basename(path)] ?? languages[extname(path)] ?? null;
}
