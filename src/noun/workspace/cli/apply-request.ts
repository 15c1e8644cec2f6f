/** Turns the options of `apply` and `merge` into the request to the daemon. */

import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { ApplyRequest } from '../api.ts';
import { type GateKind, gateKinds, type Resolution, resolutions } from '../model/change.ts';

export type ApplyFlags = { readonly [way in Resolution]?: boolean } & {
  readonly dryRun?: boolean;
  readonly ignored?: boolean;
  readonly allow?: readonly string[];
  readonly always?: boolean;
  readonly ask?: readonly string[];
};

export function applyRequest(names: readonly string[], paths: readonly string[], options: ApplyFlags): ApplyRequest {
  const resolution = chosen(options);
  checkAlways(options);
  return {
    names: [...names],
    ...(paths.length === 0 ? {} : { paths: [...paths] }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(options.allow === undefined ? {} : { allow: parseKinds('--allow', options.allow) }),
    ...(options.always ? { always: true } : {}),
    ...(options.ask === undefined ? {} : { ask: parseKinds('--ask', options.ask) }),
    ...(options.ignored ? { ignored: true } : {}),
    ...(options.dryRun ? { dryRun: true } : {}),
  };
}

/** Parses kinds of gates, repeated or separated by commas; `all` means every kind. */
export function parseKinds(option: string, texts: readonly string[]): GateKind[] {
  const words = texts.flatMap((text) => text.split(','));
  const odd = words.find((word) => word !== 'all' && !isKind(word));
  if (odd !== undefined) {
    throw new Fault('invalid', `${option}: ${printable(odd)} is not a kind of change that can be allowed`, {
      hint: `Choose from: ${gateKinds.join(', ')}, all.`,
    });
  }
  return gateKinds.filter((kind) => words.includes(kind) || words.includes('all'));
}

function checkAlways({ allow, always, ask }: ApplyFlags): void {
  if (always && allow === undefined)
    throw new Fault('invalid', '--always needs --allow', {
      hint: 'Add --allow KIND.',
    });
  if (ask !== undefined && (always || allow !== undefined))
    throw new Fault('invalid', '--ask and --allow exclude each other', { hint: 'Give one of them.' });
}

function isKind(word: string): word is GateKind {
  return (gateKinds as readonly string[]).includes(word);
}

function chosen(options: ApplyFlags): Resolution | undefined {
  const [first, second] = resolutions.filter((way) => options[way]);
  if (second === undefined) return first;
  throw new Fault('invalid', `--${first} and --${second} exclude each other`, { hint: 'Give one of them.' });
}
