/** Turns the rules that a request asks for into the rules that are recorded. */

import { Fault } from '../../../model/fault.ts';
import type { ProjectFile } from '../../project/project.ts';
import { networkGrants } from '../model/grant-line.ts';
import { maxRules, ruleClass, usableRule } from '../model/network.ts';
import { expandPresets, type NetworkPresets } from '../model/preset.ts';

export interface PolicyParts {
  /** Rules of sandboxes for which neither the command nor the project names any. */
  readonly defaults: readonly string[];
  /** Names that stand for lists of rules, on the command line only: the lines of a project's file are trusted as they are. */
  readonly presets: NetworkPresets;
  readonly isOwner: boolean;
  /** The project whose file is read; null: there is none, or an agent can write it. */
  readonly project: string | null;
  readonly readFile: (project: string) => ProjectFile | null;
  /** Refuses grants of a file that were not trusted. */
  readonly requireTrust: (file: string, grants: readonly string[]) => void;
}

/** The command line overrides the project, the project overrides the owner's defaults. */
export function effectiveRules(requested: 'none' | readonly string[] | undefined, parts: PolicyParts): string[] {
  if (requested === 'none') return [];
  if (requested !== undefined) return checkedRules(expandPresets(requested, parts.presets), parts.isOwner);
  const file = parts.project === null ? null : parts.readFile(parts.project);
  const ofProject = file?.content.network;
  if (file === null || ofProject === undefined) return [...parts.defaults];
  if (ofProject === 'none') return [];
  // The file of a project may have any author: only lines that the user trusted count, and they open nothing on this
  // machine.
  const rules = checkedRules(ofProject, false);
  const usual = new Set(parts.defaults);
  const widening = rules.filter((rule) => !usual.has(rule));
  parts.requireTrust(file.path, networkGrants(widening));
  return rules;
}

/** `others`: rules that the sandbox already has. */
export function checkedRules(rules: readonly string[], isOwner: boolean, others: readonly string[] = []): string[] {
  const canonical = [...new Set(rules.map((rule) => usableRule(rule, [...rules, ...others])))];
  const near = isOwner ? undefined : canonical.find((rule) => ruleClass(rule) !== null);
  if (near !== undefined) {
    throw new Fault(
      'denied',
      `${near} is a ${ruleClass(near)} address, which only the owner of this installation may allow`,
      {
        hint: 'The owner allows it with carrel run --network, or under `network` in config.yaml.',
      },
    );
  }
  if (canonical.length > maxRules)
    throw new Fault('invalid', `there are ${canonical.length} rules, and a sandbox may have ${maxRules}`);
  return canonical;
}
