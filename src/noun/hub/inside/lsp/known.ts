/** The language servers that are known without configuration. */
import { basename, extname } from 'node:path';
import { clangdArguments, indexArgument } from './clangd-index.ts';
import type { ServerSpec } from './lsp.ts';

/**
 * With aliases, a rename at a use would become `import { a as b }`. Only types that the project has are used: fetching
 * others would start npm, and most sandboxes have no network.
 */
const chosen = {
  preferences: { useAliasesForRenames: false },
  tsserver: { automaticTypeAcquisition: { enabled: false } },
};

const typescript = {
  ...{ '.ts': 'typescript', '.mts': 'typescript', '.cts': 'typescript', '.tsx': 'typescriptreact' },
  ...{ '.js': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript', '.jsx': 'javascriptreact' },
};
const python = { '.py': 'python', '.pyi': 'python' };
const c = {
  ...{ '.c': 'c', '.h': 'c', '.cc': 'cpp', '.cpp': 'cpp', '.cxx': 'cpp', '.hh': 'cpp', '.hpp': 'cpp', '.hxx': 'cpp' },
  ...{ '.m': 'objective-c', '.mm': 'objective-cpp' },
};
const shell = { '.sh': 'shellscript', '.bash': 'shellscript', '.bashrc': 'shellscript', '.profile': 'shellscript' };

/** `modules`: the packages of the project; `own`: those that come with Carrel. */
export function knownServers(modules: string, own: string): readonly ServerSpec[] {
  const native = `@typescript/typescript-linux-${process.arch}/lib/tsc`;
  // A Node that comes with its own libraries cannot be started by the path of its executable.
  const node = process.env.CARREL_NODE ?? process.execPath;
  const script = (path: string, ...args: string[]) => [node, `${own}/${path}`, ...args];
  return [
    {
      name: 'typescript',
      languages: typescript,
      // A `tsc` on the PATH may be an older one, which is no language server.
      commands: [modules, own].map((folder) => [`${folder}/${native}`, '--lsp', '--stdio']),
      install: 'npm install --save-dev typescript@7',
      // The server does not always end the progress that it reports for a slow load.
      loadsFirst: true,
      settings: { 'js/ts': chosen, typescript: chosen, javascript: chosen },
    },
    {
      name: 'pyright',
      languages: python,
      commands: [
        [`${modules}/.bin/pyright-langserver`, '--stdio'],
        ['pyright-langserver', '--stdio'],
        script('pyright/langserver.index.js', '--stdio'),
      ],
      install: 'npm install --save-dev pyright',
    },
    { name: 'pylsp', languages: python, commands: [['pylsp']], install: 'pip install python-lsp-server' },
    {
      name: 'clangd',
      languages: c,
      commands: [['clangd'], ...[22, 21, 20, 19, 18, 17, 16, 15, 14].map((version) => [`clangd-${version}`])],
      argumentsFor: clangdArguments,
      indexesWith: indexArgument,
      install: 'apt-get install clangd',
    },
    {
      name: 'gopls',
      languages: { '.go': 'go', 'go.mod': 'go.mod' },
      commands: [['gopls']],
      install: 'go install golang.org/x/tools/gopls@latest',
    },
    {
      name: 'rust-analyzer',
      languages: { '.rs': 'rust' },
      commands: [['rust-analyzer']],
      checksWith: 'flycheck',
      install: 'rustup component add rust-analyzer',
    },
    {
      name: 'bash',
      readsLate: true,
      languages: shell,
      commands: [
        [`${modules}/.bin/bash-language-server`, 'start'],
        ['bash-language-server', 'start'],
        script('bash-language-server/out/cli.js', 'start'),
      ],
      install: 'npm install --save-dev bash-language-server',
    },
    {
      name: 'yaml',
      languages: { '.yaml': 'yaml', '.yml': 'yaml' },
      commands: [
        [`${modules}/.bin/yaml-language-server`, '--stdio'],
        ['yaml-language-server', '--stdio'],
        script('yaml-language-server/bin/yaml-language-server', '--stdio'),
      ],
      install: 'npm install --save-dev yaml-language-server',
    },
  ];
}

/** Null: the server does not support the file. */
export function languageOf({ languages }: ServerSpec, path: string): string | null {
  return languages[basename(path)] ?? languages[extname(path)] ?? null;
}
