/** Real repositories for tests, without any configuration of the machine. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRealRoot } from './machine.ts';
import { type Files, put } from './working-copy.ts';

const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const identity = ['-c', 'user.name=Owner', '-c', 'user.email=owner@example.org', '-c', 'init.defaultBranch=main'];
/** Another account than that of the tests, if the tests can change accounts. */
export const otherUid = isRealRoot ? 12345 : process.getuid!();

export class Repository {
  readonly path: string;

  /** Makes a repository in a new folder below the root, with one commit of these files. */
  constructor(root: string, files: Files = { a: 'a\n' }) {
    this.path = join(mkdtempSync(join(root, 'repository-')), 'project');
    mkdirSync(this.path);
    chmodSync(join(this.path, '..'), 0o755);
    this.git('init', '-q');
    this.commit(files, 'first');
  }

  git(...args: string[]): string {
    return execFileSync('git', [...identity, ...args], { cwd: this.path, env, encoding: 'utf8' }).replace(/\n$/, '');
  }

  feed(input: string | Buffer, ...args: string[]): string {
    return spawnSync('git', [...identity, ...args], { cwd: this.path, env, input })
      .stdout.toString()
      .trim();
  }

  commit(files: Files, message: string): string {
    put(this.path, files);
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }

  give(uid: number): void {
    chownSync(this.path, uid, uid);
    for (const entry of readdirSync(this.path, { recursive: true, withFileTypes: true }))
      chownSync(join(entry.parentPath, entry.name), uid, uid);
  }

  /** Everything that could have been changed: refs, index, checkout, and which objects there are. */
  state(): string {
    return [
      this.git('-c', `safe.directory=${this.path}`, 'for-each-ref'),
      this.git('-c', `safe.directory=${this.path}`, 'status', '--porcelain'),
      this.git('-c', `safe.directory=${this.path}`, 'ls-files', '-s'),
      ...readdirSync(join(this.path, '.git'), { recursive: true })
        .map(String)
        .filter((name) => !name.startsWith('index'))
        .sort(),
    ].join('\n');
  }
}
