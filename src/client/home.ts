import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Fault } from '../model/fault.ts';

/** The home of this command: the flag, else CARREL_HOME, else ~/.carrel. */
export function homeOf(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  if (flag === '')
    throw new Fault('invalid', '--home: the path is empty', { hint: 'Name a folder, or leave --home out.' });
  return resolve(flag || env.CARREL_HOME || join(homedir(), '.carrel'));
}
