/** Replaces the API's field name in a refusal by the option or argument that the user typed. */
import { Fault } from '../model/fault.ts';
import type { CommandEntry } from './cli.ts';

/** Fields that no option or argument fills. */
const otherFields: Readonly<Record<string, string>> = { command: 'the command', author: 'the author' };

/** The Fault with the name of the option instead of the field; unchanged if the command has no such field. */
export function withOptionName(fault: Fault, entry: CommandEntry): Fault {
  const { field } = fault.data ?? {};
  if (typeof field !== 'string' || !fault.message.startsWith(field)) return fault;
  const name = optionName(field, entry);
  if (name === undefined) return fault;
  const hint = fault.hint ?? `carrel help ${entry.name}`;
  return new Fault(fault.code, `${name}${fault.message.slice(field.length)}`, { cause: fault, hint });
}

function optionName(field: string, { options = [], fields = {} }: CommandEntry): string | undefined {
  const path = withoutPlace(field);
  const option = options.find((one) => one.field !== undefined && isWithin(path, one.field));
  if (option) return /--[a-z-]+/.exec(option.flags)![0];
  const named = Object.entries({ ...otherFields, ...fields });
  return named.find(([own]) => isWithin(path, own))?.[1];
}

/** Removes `sandbox.` too: a swarm sends the options of its sandboxes one level below its own options. */
function withoutPlace(field: string): string {
  return field.replace(/^(body|query|request)\./, '').replace(/^sandbox\./, '');
}

function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`);
}
