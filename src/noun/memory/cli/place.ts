/** The options by which commands about the memory name a scope and metadata. */

import { parsePairs } from '../../../client/option.ts';
import { absolute } from '../../../client/paths.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName, printable } from '../../../model/name.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import { checkCollection, type MetadataValue, noteIdRule } from '../model/memory.ts';

export interface PlaceOptions {
  readonly project?: string;
  readonly sandbox?: string;
  readonly collection?: string;
}

export function placeOf({ project, sandbox, collection }: PlaceOptions) {
  if (project !== undefined && sandbox !== undefined) {
    throw new Fault('invalid', '--project and --sandbox name two scopes', { hint: 'Use one of them.' });
  }
  return {
    ...(project === undefined ? {} : { project: absolute(project, '--project') }),
    ...(sandbox === undefined ? {} : { sandboxName: checkSandboxName(sandbox) }),
    ...(collection === undefined ? {} : { collection: checkCollection(collection) }),
  };
}

/** Parses KEY=VALUE. `true`, `false` and numbers become booleans and numbers, not texts. */
export function metadataIn(texts: readonly string[], option: string): Record<string, MetadataValue> {
  const pairs = Object.entries(parsePairs(texts, option));
  return Object.fromEntries(pairs.map(([key, text]) => [key, typedValue(text)]));
}

function typedValue(text: string): MetadataValue {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d{1,15}(\.\d{1,10})?$/.test(text) ? Number(text) : text;
}

export function checkNoteId(text: string): string {
  if (ulidPattern.test(text)) return text;
  throw new Fault('invalid', `${printable(text)} is not an id of a note`, {
    hint: `${noteIdRule} To see them: carrel memory ls`,
  });
}
