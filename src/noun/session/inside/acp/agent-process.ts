/** The process of an agent: its environment, the end of its stderr, its exit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Lines } from '../../../../lib/wire/lines.ts';
import { Group } from '../../../agent/inside/group.ts';
import { findKey, keyEnv } from '../../../agent/inside/key.ts';
import { LastLines, maxLines } from '../../../agent/inside/last-lines.ts';
import { requireProgram } from '../../../agent/inside/program.ts';
import type { AcpSpec } from '../../../agent/model/agent.ts';
import { sessionMark } from '../driver/orphans.ts';
import { isEnding } from '../driver/process-state.ts';

const maxLineBytes = 64 * 1024;
/** Time for an agent to exit after its input has ended; then it is stopped. */
const leaveMs = 1000;
const lastWords = 2000;

type Environment = Readonly<Record<string, string>>;

export interface ProcessPlace {
  readonly cwd: string;
  readonly env: Environment;
  readonly secretsFolder: string;
  /** The folder of the session. */
  readonly folder: string;
}

export class AgentProcess {
  readonly group: Group;
  readonly #name: string;
  readonly #words = new LastLines(lastWords);

  constructor(spec: AcpSpec, { cwd, env, secretsFolder, folder }: ProcessPlace) {
    const key = keyEnv(findKey(spec, env, secretsFolder));
    const own = { ...env, ...anyKeys(spec, secretsFolder), ...key, [sessionMark]: folder };
    requireProgram(spec.command, own);
    this.#name = spec.command[0]!;
    this.group = new Group({ command: spec.command, cwd, env: own, isSharedFolder: true });
    const lines = new Lines(maxLineBytes);
    this.group.stderr.on('data', (chunk: Buffer) => this.#words.add(...lines.push(chunk).slice(-maxLines)));
  }

  /** Resolves to why the agent ended, when all of its processes have ended. */
  async reason(): Promise<string> {
    const words = () => (this.#words.toString() ? `: ${this.#words}` : '');
    try {
      return `${this.#name} ended with ${await this.group.ended}${words()}`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** True: the agent has ended or was killed, so input that is written now is lost. */
  get isEnding(): boolean {
    return this.group.pid === undefined || isEnding(this.group.pid);
  }

  /** Rejects if the program cannot be started. */
  get failed(): Promise<never> {
    return new Promise((_, reject) => this.group.ended.catch(reject));
  }

  async stop(): Promise<void> {
    this.group.stdin.end();
    await Promise.race([this.group.ended.catch(() => {}), pause(leaveMs)]);
    await this.group.stop();
    await this.group.ended.catch(() => {});
  }
}

/** The secrets that exist; the agent reports a missing one. */
function anyKeys({ anyKey = [] }: AcpSpec, folder: string): Record<string, string> {
  const found = anyKey.map((name) => [name, secretOf(join(folder, name))] as const);
  return Object.fromEntries(found.filter((one): one is [string, string] => one[1] !== null));
}

function secretOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}
