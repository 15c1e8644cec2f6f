/** A project for tests: its owner edits it, agents work on copies of it, and changes are applied to it. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ApplyView } from '../../src/noun/workspace/api.ts';
import type { Installation, Outcome } from './installation.ts';
import { isRealRoot } from './machine.ts';

export const ways = isRealRoot ? (['root', 'rootless'] as const) : (['rootless'] as const);
export type Way = (typeof ways)[number];

/** A folder that belongs to the account that runs the CLI. */
export class Project {
  readonly path: string;

  constructor(path: string, files: Readonly<Record<string, string | Buffer>> = {}) {
    this.path = path;
    for (const [name, content] of Object.entries(files)) this.put(name, content);
  }

  put(path: string, content: string | Buffer): void {
    if (dirname(path) !== '.') this.folder(dirname(path));
    writeFileSync(this.at(path), content);
    this.#own(path);
  }

  folder(path: string): void {
    mkdirSync(this.at(path), { recursive: true });
    for (let at = path; at !== '.'; at = dirname(at)) this.#own(at);
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  names(): string[] {
    return readdirSync(this.path).sort();
  }

  at(path: string): string {
    return join(this.path, path);
  }

  /** Git as its owner, without any configuration of the machine. */
  git(...args: string[]): string {
    return this.feed('', ...args);
  }

  feed(input: string, ...args: string[]): string {
    const identity = ['-c', 'user.name=Owner', '-c', 'user.email=owner@example.org', '-c', 'init.defaultBranch=main'];
    const output = execFileSync('git', [...identity, ...args], {
      cwd: this.path,
      input,
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' },
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      ...this.owner,
    });
    return output.replace(/\n$/, '');
  }

  get owner(): { uid: number; gid: number } {
    const { uid, gid } = statSync(this.path);
    return { uid, gid };
  }

  #own(path: string): void {
    const { uid, gid } = this.owner;
    chownSync(this.at(path), uid, gid);
  }
}

/** Every path with its type, mode, owner, target and content. */
export function stateOf(folder: string): string {
  const list = execFileSync('find', [folder, '-printf', '%P\t%y\t%m\t%U\t%l\n']).toString().split('\n');
  const sums = execFileSync('sh', ['-c', 'cd "$1" && find . -type f -exec sha256sum {} +', 'sh', folder]).toString();
  return [...list.sort(), ...sums.split('\n').sort()].join('\n');
}

/** Runs a script inside, which must succeed. */
export async function agent(carrel: Installation, name: string, script: string, ...args: string[]): Promise<string> {
  return carrel.ok('exec', name, '--', 'sh', '-ec', script, 'sh', ...args);
}

export async function changesOf(carrel: Installation, name: string): Promise<string[]> {
  const { changes } = await carrel.changes(name);
  return changes.map(({ status, path }) => `${status} ${path}`);
}

export type Applied = ApplyView & Pick<Outcome, 'exitCode' | 'stderr'>;

export async function apply(carrel: Installation, ...args: string[]): Promise<Applied> {
  const { exitCode, stdout, stderr } = await carrel.run(['--json', 'apply', ...args]);
  if (stdout === '') throw new Error(`carrel apply ${args.join(' ')} exited with ${exitCode}: ${stderr}`);
  return { ...(JSON.parse(stdout) as ApplyView), exitCode, stderr };
}

export function outcomes({ paths }: ApplyView): string[] {
  return paths.map(({ outcome, path }) => `${outcome} ${path}`);
}

/** `line 1` to `line N`. */
export function numbers(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');
}
