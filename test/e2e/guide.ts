/**
 * Runs the commands that a page shows in its `sh` blocks, unchanged and in order, in the environment that the page
 * assumes. Each command has to end with 0, unless the page's table says otherwise.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { OwnMachine } from '../harness/own-machine.ts';
import { Project } from '../harness/project.ts';
import { runEnv } from '../harness/run.ts';
import { Terminal } from '../harness/terminal.ts';
import { fences } from '../shown-commands.ts';
import { programsPath } from './agent-programs.ts';

export const ctrlC = '\x03';
export const detach = '\x10\x11';
export const yes = [[/\[y\/N\]/, 'y\r']] as const;

/** How a command differs from the default: it runs without input and ends with 0. */
export interface Way {
  /** Does what the page assumes to have happened before the command. */
  readonly before?: (guide: Guide) => unknown;
  readonly exitCode?: number;
  /** The reason why the command is not run. */
  readonly leftOut?: string;
  /** Text that the command has to print. */
  readonly shows?: RegExp;
  /** Runs the command on a terminal: when the screen shows a text, the keys are typed. */
  readonly types?: readonly (readonly [
    shown: RegExp,
    keys: string | ((guide: Guide, terminal: Terminal) => unknown),
  ])[];
}

export interface Page {
  readonly file: string;
  /** The title of the section that has the commands; left out, the whole page. */
  readonly section?: string;
  /** The folder in which the commands are typed; left out, `project`. */
  readonly folder?: string;
  /** Host names of the Internet that the page uses. */
  readonly hosts?: readonly string[];
  readonly prepare?: (guide: Guide) => unknown;
  /** Keyed by the text of the command, without its comment. */
  readonly ways?: Readonly<Record<string, Way>>;
}

/** A person's login on a machine with Carrel: `~` is `home`, and the commands are typed in `folder`. */
export class Guide {
  readonly machine: OwnMachine;
  readonly carrel: Installation;
  readonly home: string;
  readonly project: Project;
  /** Environment variables that the person has set in the shell. */
  readonly variables: Record<string, string> = {};
  readonly #closing: (() => unknown)[] = [];

  constructor(machine: OwnMachine, folder = 'project') {
    this.machine = machine;
    this.carrel = new Installation(machine.account, null, undefined, '.carrel');
    this.home = dirname(this.carrel.home);
    this.project = new Project(this.carrel.folder(folder), { 'README.md': 'A project.\n' });
    this.carrel.write(
      '.gitconfig',
      '[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n',
    );
  }

  /** Replaces config.yaml. */
  configure(settings: object): void {
    this.carrel.write('.carrel/config.yaml', JSON.stringify(settings));
  }

  /** Registers a cleanup, which runs after the page; the last one registered runs first. */
  onEnd(close: () => unknown): void {
    this.#closing.unshift(close);
  }

  get #surroundings() {
    const { PATH: own, ...variables } = this.variables;
    const PATH = [own, dirname(this.carrel.program), dirname(process.execPath), programsPath].filter(Boolean).join(':');
    return { cwd: this.project.path, env: { ...runEnv(), HOME: this.home, PATH, ...variables } };
  }

  #argv(command: string): readonly string[] {
    return this.machine.account.wrap(['bash', '-c', command]);
  }

  async run(command: string): Promise<readonly [exitCode: number, output: string]> {
    const [program, ...args] = this.#argv(`exec 2>&1; ${command}`);
    const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'], ...this.#surroundings });
    const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 255)));
    const output = await text(child.stdout);
    return [await ended, output];
  }

  async ok(command: string): Promise<string> {
    const [exitCode, output] = await this.run(command);
    if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${output}`);
    return output.trim();
  }

  async type(command: string, types: NonNullable<Way['types']>): Promise<readonly [exitCode: number, output: string]> {
    const terminal = new Terminal(this.#argv(command), { columns: 100, ...this.#surroundings });
    try {
      for (const [shown, keys] of types) {
        await terminal.shows(shown);
        if (typeof keys === 'string') terminal.type(keys);
        else await keys(this, terminal);
      }
      return [await terminal.ended, terminal.text];
    } finally {
      terminal.kill();
    }
  }

  async dispose(): Promise<void> {
    await this.carrel.dispose();
    for (const close of this.#closing) await close();
    await this.machine.dispose();
  }
}

/** The commands of a page in order; lines that end with a backslash are joined. */
export function commandsOf(file: string, section?: string): string[] {
  const text = readFileSync(file, 'utf8');
  const parts = section === undefined ? [text] : text.split(/^## /m).filter((part) => part.startsWith(`${section}\n`));
  const blocks = fences(parts.join('')).filter(({ language }) => language === 'sh');
  return blocks.flatMap(({ text }) => text.replace(/\\\n/g, '').split('\n')).filter(Boolean);
}

const withoutComment = (command: string) => command.replace(/\s+# .*$/, '');

export function runsEachCommand({ file, section, folder, hosts, prepare, ways = {} }: Page): void {
  const commands = commandsOf(file, section);
  const page = section === undefined ? file : `${file}, ${section},`;

  it(`${page} shows each command that the test runs in another way`, () => {
    const shown = commands.map(withoutComment);
    expect(Object.keys(ways).filter((command) => !shown.includes(command))).toEqual([]);
  });

  it(`each command of ${page} works`, async () => {
    const guide = new Guide(await OwnMachine.open(hosts), folder);
    try {
      await prepare?.(guide);
      for (const command of commands) await run(guide, command, ways[withoutComment(command)] ?? {});
    } finally {
      await guide.dispose();
    }
  });
}

async function run(guide: Guide, command: string, { before, exitCode = 0, shows, types, leftOut }: Way): Promise<void> {
  if (leftOut !== undefined) return;
  await before?.(guide);
  const [code, output] = types ? await guide.type(command, types) : await guide.run(command);
  expect({ command, exitCode: code, output }).toEqual({
    command,
    exitCode,
    output: shows ? expect.stringMatching(shows) : expect.any(String),
  });
}
