import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Fault } from '../model/fault.ts';
import type { Output } from './output/output.ts';

/** What every command is given. */
export interface Context {
  /** Absolute path of the installation. */
  readonly home: string;
  /** Of a daemon that others run, which is used instead of the one of the home; null: there is none. */
  readonly socket: string | null;
  /** Whom the owner acts as; null: whoever asks. */
  readonly user: string | null;
  readonly json: boolean;
  readonly out: Output;
}

/** One use of a command: what stands before `--`, its options, and what stands after `--`. */
export interface Invocation<Options = object> {
  readonly args: readonly string[];
  readonly options: Options;
  readonly command: readonly string[];
}

/** Ends with the exit code; nothing is 0. */
export type Perform<Options = never> = (
  context: Context,
  invocation: Invocation<Options>,
) => Promise<number | undefined> | Promise<void>;

/** The home that was asked for: the flag, else CARREL_HOME, else ~/.carrel. */
export function homeOf(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  if (flag === '')
    throw new Fault('invalid', '--home: the path is empty', { hint: 'Name a folder, or leave --home out.' });
  return resolve(flag || env.CARREL_HOME || join(homedir(), '.carrel'));
}
