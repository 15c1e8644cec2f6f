// @reads sources
/**
 * A folder of the code has a file with its name, which opens with the contract in prose: what the folder is for, its life
 * cycle, its promises. Folders with few files need none.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path/posix';
import { describe, expect, it, test } from 'vitest';

const fewFiles = 3;
const leastLines = 2;

/** Folders without a contract file, and why. */
const without: Readonly<Record<string, string>> = {
  'src/model': 'independent nouns and rules, one file each',
  ...Object.fromEntries(
    ['sys', 'process', 'file', 'wire', 'data', 'text', 'flow', 'schema'].map((folder) => [
      `src/lib/${folder}`,
      'independent tools, one file each',
    ]),
  ),
  'src/noun': 'the tables of nouns; each says what it lists',
  'src/noun/agent/inside': 'tools for programs that drive an agent, one file each',
  'src/noun/sandbox/cli/stream': 'ways of a command to attach to a program inside, one file each',
};

/** The shapes and rules of a noun are independent, one file each. */
const shapes = /^src\/noun\/[^/]+\/(model|api)$/;

/** One line is enough for an area of commands: the file is its table, which has a summary of each command. */
const areaOfCommands = /^export const \w+: Area = /m;

/** Source text by path. */
type Files = ReadonlyMap<string, string>;

function breaches(files: Files): string[] {
  const folders = [...files.keys()].map((path) => dirname(path));
  const counts = new Map(folders.map((folder) => [folder, folders.filter((one) => one === folder).length]));
  return [...counts]
    .filter(([folder, count]) => count > fewFiles && !(folder in without) && !shapes.test(folder))
    .flatMap(([folder]) => breachOf(folder, files.get(`${folder}/${basename(folder)}.ts`)) ?? []);
}

function breachOf(folder: string, contract: string | undefined): string | null {
  const file = `${folder}/${basename(folder)}.ts`;
  if (contract === undefined) return `${file} is missing: the contract of ${folder}`;
  const lines = proseLines(contract);
  const least = areaOfCommands.test(contract) ? 1 : leastLines;
  if (lines >= least) return null;
  return `${file} opens with too little prose (${lines} of ${least} lines): life cycle and promises of ${folder}`;
}

/** The lines with words of the comment that a file opens with. */
function proseLines(source: string): number {
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? '';
  return comment.split('\n').filter((line) => /\w/.test(line)).length;
}

test('every folder of the code with more than a few files has its contract', () => {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => `src/${path}`);
  expect(paths.length).toBeGreaterThan(100);
  expect(breaches(new Map(paths.map((path) => [path, readFileSync(path, 'utf8')])))).toEqual([]);
});

describe('a folder', () => {
  const prose = '/**\n * A room.\n *\n * Life cycle: made, removed.\n */\n';
  const files = (folder: string, contract: string | null, count = 4): Files =>
    new Map([
      ...Array.from({ length: count }, (_, index) => [`${folder}/part-${index}.ts`, ''] as const),
      ...(contract === null ? [] : [[`${folder}/${basename(folder)}.ts`, contract] as const]),
    ]);

  it.each([
    ['with a contract of two lines', files('src/room', prose)],
    ['of few files without a contract', files('src/room', null, 3)],
    ['of independent pieces', files('src/lib/file', null, 50)],
    ['of shapes', files('src/noun/room/model', null, 5)],
    ['of commands with one line', files('src/noun/room/cli', '/** Rooms. */\nexport const room: Area = {};\n')],
  ])('%s is accepted', (_title, made) => {
    expect(breaches(made)).toEqual([]);
  });

  it.each([
    ['without its file', files('src/room', null), 'src/room/room.ts is missing'],
    ['with one line', files('src/room', '/** Rooms. */\n'), 'too little prose (1 of 2 lines)'],
    [
      'whose prose is after the imports',
      files('src/room', `import a from 'b';\n${prose}`),
      'too little prose (0 of 2 lines)',
    ],
    ['of the command line that is no area', files('src/client/connect', '/** Connects. */\n'), '(1 of 2 lines)'],
  ])('%s is refused', (_title, made, rule) => {
    expect(breaches(made)).toEqual([expect.stringContaining(rule)]);
  });
});
