/** README and docs/ show commands, options and files that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandEntry } from '../src/client/cli.ts';
import { parse } from '../src/client/program.ts';
import { table } from '../src/noun/cli.ts';
import { carrelCommands, fences, inlineCommands } from './shown-commands.ts';

const decisions = readdirSync('docs/decisions').map((name) => `docs/decisions/${name}`);
const guides = readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []));
const own = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'SCOPE.md', 'CHANGELOG.md'];
const files = [...own, ...guides, ...decisions];
const read = (file: string) => readFileSync(file, 'utf8');

/** The headings of a page as GitHub names them in links. */
const headings = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

/** Returns what is wrong with a command line; null: it is valid. */
async function problemOf(argv: readonly string[]): Promise<string | null> {
  try {
    let entry: CommandEntry | null = null;
    await parse(argv, async (found) => {
      entry = found;
    });
    return entry === null ? 'no command' : null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Commands in prose omit arguments, so only the words of the command and its options are compared. */
function problemOfInline(text: string): string | null {
  const shown = text.replace(/ --(home|user) \S+| --json| …/g, '');
  const words = carrelCommands(shown)[0]!;
  const [first = '', second = ''] = words;
  if (first === '' || first === 'help' || first.startsWith('[')) return null;
  const entry =
    table.commands.find(({ name }) => name === `${first} ${second}`) ??
    table.commands.find(({ name }) => name === first);
  if (!entry)
    return table.commands.some(({ name }) => name.startsWith(`${first} `)) && !second ? null : 'no such command';
  const end = words.indexOf('--');
  const used = words.slice(0, end < 0 ? undefined : end).filter((word) => /^-/.test(word));
  const known = new Set((entry.options ?? []).flatMap(({ flags }) => flags.match(/--?[\w-]+/g) ?? []));
  return used.find((flag) => !known.has(flag.replace(/=.*/, ''))) ?? null;
}

describe.each(files)('%s', (file) => {
  it('has only commands in its sh blocks that parse', async () => {
    const shown = fences(read(file)).filter(({ language }) => language === 'sh');
    const argvs = shown.flatMap(({ text }) => carrelCommands(text));
    const problems = await Promise.all(argvs.map(async (argv) => [argv.join(' '), await problemOf(argv)]));
    expect(problems.filter(([, problem]) => problem !== null)).toEqual([]);
  });

  it('links to files and headings that exist', () => {
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
    const broken = links.filter(([, link = '', heading]) => {
      const target = link === '' ? file : join(dirname(file), link);
      return !existsSync(target) || (heading !== undefined && !headings(read(target)).includes(heading));
    });
    expect(broken.map(([shown]) => shown)).toEqual([]);
  });
});

/** Decisions are left out: they also name commands that were rejected. */
describe.each([...own, ...guides])('%s', (file) => {
  it('has only commands and options in backticks that exist', () => {
    const problems = inlineCommands(read(file)).map((text) => [text, problemOfInline(text)]);
    expect(problems.filter(([, problem]) => problem !== null)).toEqual([]);
  });
});

it.each(table.commands)('help $name shows an example of that command', async ({ name, examples }) => {
  const argvs = examples.flatMap((example) => carrelCommands(`carrel ${example}`));
  expect(await Promise.all(argvs.map(nameOf))).toContain(name);
});

async function nameOf(argv: readonly string[]): Promise<string | null> {
  let name: string | null = null;
  await parse(argv, async (entry) => {
    name = entry.name;
  });
  return name;
}

it('docs/troubleshooting.md quotes messages that the code has', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const code = [...sources.map((name) => read(`src/${name}`)), read('bin/carrel')].join('\n');
  const messages = [...read('docs/troubleshooting.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, text]) => text!);
  const fixed = (message: string) => message.split(/\b[A-Z]{2,}\b/).map((part) => part.trim());
  expect(messages.length).toBeGreaterThan(20);
  expect(messages.filter((message) => !fixed(message).every((part) => code.includes(part)))).toEqual([]);
});

it('carrelCommands finds the commands of a script between pipes, in substitutions and after comments', () => {
  const script = `carrel run -- sh -c 'a; b' # carrel no\nkill "$(carrel status | sed x)"; x | carrel cp a b < c`;
  expect(carrelCommands(script)).toEqual([['run', '--', 'sh', '-c', 'a; b'], ['cp', 'a', 'b'], ['status']]);
});
