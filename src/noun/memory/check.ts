/** Checks a note before it is stored. */
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { formatSize } from '../../model/size.ts';
import type { NewNote, Vector } from './memory.ts';
import { checkCollection, type MemoryLimits, metadataKeyPattern, modelPattern } from './model/memory.ts';

const maxMetadataKeys = 32;

export function checkNote({ collection, text, metadata, vector }: NewNote, limits: MemoryLimits): void {
  checkCollection(collection);
  if (text.trim() === '') throw new Fault('invalid', 'the note has no text');
  refuseAbove('the text of a note', Buffer.byteLength(text), limits.noteBytes);
  refuseAbove('the metadata of a note', Buffer.byteLength(JSON.stringify(metadata)), limits.metadataBytes);
  const keys = Object.keys(metadata);
  if (keys.length > maxMetadataKeys)
    throw new Fault('exhausted', `a note has at most ${maxMetadataKeys} metadata keys`);
  for (const key of keys) checkMetadataKey(key);
  if (vector) checkVector(vector, limits.dimensions);
}

export function checkMetadataKey(key: string): void {
  if (metadataKeyPattern.test(key)) return;
  throw new Fault('invalid', `${printable(key)} is not a metadata key`, {
    hint: 'Use 1 to 64 letters, digits and "_.-", starting with a letter, a digit or "_".',
  });
}

export function checkVector({ model, values }: Vector, maxDimensions: number): void {
  if (!modelPattern.test(model)) throw new Fault('invalid', `${printable(model)} is not the name of a model`);
  if (values.length > maxDimensions) {
    throw new Fault('exhausted', `a vector has at most ${maxDimensions} dimensions, and this one has ${values.length}`);
  }
  if (values.length === 0 || !values.every(Number.isFinite) || values.every((value) => value === 0)) {
    throw new Fault('invalid', 'a vector needs numbers, not all of them zero');
  }
}

function refuseAbove(what: string, bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new Fault('exhausted', `${what} has at most ${formatSize(most)}, and this one has ${formatSize(bytes)}`);
}

export function mixedModels(collection: string, expected: string, given: string): Fault {
  return new Fault('conflict', `the vectors of the collection ${collection} are of ${expected}, not of ${given}`, {
    hint: 'Use another collection for another model.',
  });
}

export function overQuota(totalBytes: number): Fault {
  return new Fault('exhausted', `the memory is full: it has ${formatSize(totalBytes)}`, {
    hint: 'Remove notes with carrel memory rm, or raise memory.size in config.yaml.',
  });
}

export function notWriter(id: string): Fault {
  return new Fault('denied', `the note ${id} is of another writer`, {
    hint: 'Its user can remove it with carrel memory rm.',
  });
}

export function noNote(id: string): Fault {
  return new Fault('not_found', `there is no note ${printable(id)}`);
}
