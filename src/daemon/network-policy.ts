/** From what was asked for to the rules that are recorded. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { fleetSchema } from '../fleet/schema.ts';
import { isErrno } from '../lib/file.ts';
import { Fault } from '../model/fault.ts';
import { maxRules, ruleClass, usableRule } from '../model/network.ts';
import { checkYaml } from './yaml-file.ts';

export interface PolicyParts {
  /** What sandboxes get for which nobody says anything else. */
  readonly defaults: readonly string[];
  readonly isOwner: boolean;
  /** The project, where its own file has a say: null where an agent can write it. */
  readonly project: string | null;
}

const projectFile = 'carrel.yaml';
const maxFileBytes = 64 * 1024;

/** Of a fleet or not, only what it says about the network counts here. */
const projectSchema = fleetSchema.partial({ name: true });

/** Whoever speaks last is the command line; before it the project, before that the owner's defaults. */
export function effectiveRules(asked: 'none' | readonly string[] | undefined, parts: PolicyParts): string[] {
  if (asked === 'none') return [];
  if (asked !== undefined) return checkedRules(asked, parts.isOwner);
  const ofProject = parts.project === null ? undefined : readProjectFile(join(parts.project, projectFile))?.network;
  if (ofProject === 'none') return [];
  // What comes with a project may come from anybody.
  return ofProject === undefined ? [...parts.defaults] : checkedRules(ofProject, false);
}

/** `others`: rules that are there already. */
export function checkedRules(rules: readonly string[], isOwner: boolean, others: readonly string[] = []): string[] {
  const canonical = [...new Set(rules.map((rule) => usableRule(rule, [...rules, ...others])))];
  const near = isOwner ? undefined : canonical.find((rule) => ruleClass(rule) !== null);
  if (near !== undefined) {
    throw new Fault(
      'denied',
      `${near} is a ${ruleClass(near)} address, which only the owner of this installation may open`,
      {
        hint: 'With: carrel run --network, or `network` in config.yaml',
      },
    );
  }
  if (canonical.length > maxRules) throw new Fault('invalid', `more than ${maxRules} rules`);
  return canonical;
}

/** Null: there is none. No link is followed. */
function readProjectFile(path: string): z.output<typeof projectSchema> | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      return checkYaml(path, readBounded(fd, path), projectSchema);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    if (isErrno(error, 'ELOOP')) throw new Fault('invalid', `${path} is a link`, { hint: 'Make it a plain file.' });
    if (!isErrno(error, 'EACCES')) throw error;
    const hint = 'Make it readable, or say what may be reached: --network';
    throw new Fault('denied', `${path} may not be read`, { hint, cause: error });
  }
}

function readBounded(fd: number, path: string): string {
  const stat = fstatSync(fd);
  if (!stat.isFile() || stat.size > maxFileBytes) {
    throw new Fault('invalid', `${path} is no plain file of at most ${maxFileBytes / 1024} KiB`);
  }
  const bytes = Buffer.alloc(maxFileBytes);
  return bytes.toString('utf8', 0, readSync(fd, bytes, 0, maxFileBytes, 0));
}
