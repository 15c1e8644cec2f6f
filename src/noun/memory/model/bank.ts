/** The memory bank: files of a user that its sandboxes share, with a history. The rules are in docs/formats/memory-bank.md. */
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { VolumeMount, VolumeRequest } from '../../volume/model.ts';

/** The path of the bank in sandboxes that requested it. */
export const bankFolder = '/data/memory-bank';
export const bankEnv = { MEMORY_BANK_ROOT: bankFolder } as const;
/** The folder for all projects. */
export const sharedProject = 'shared';

export function bankRequest(readonly: boolean): VolumeRequest {
  return { volume: 'memory-bank', target: bankFolder, readonly };
}

/** The bank in the spec of a sandbox. Null: it has none. */
export function bankGrant({
  volumes = [],
}: {
  readonly volumes?: readonly VolumeMount[];
}): { readonly readonly: boolean } | null {
  return volumes.find(({ isBank }) => isBank) ?? null;
}

export interface BankWriter {
  /** `unknown`: a plain write that several sandboxes, or none, could have made. */
  readonly kind: 'person' | 'sandbox' | 'unknown';
  /** The name of the user or the sandbox; for `unknown`, the sandboxes that could have made the write, or empty. */
  readonly name: string;
  /** The id of the sandbox; null: the writer is not a sandbox. */
  readonly id: string | null;
  readonly agent: string | null;
  readonly session: string | null;
}

/** `plain`: a write without a tool, which was found in the folder. */
export const bankActs = ['write', 'plain', 'restore'] as const;
export type BankAct = (typeof bankActs)[number];

export interface BankVersion {
  /** PROJECT/FILE. */
  readonly path: string;
  /** Counts from 1 for each file. */
  readonly version: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly act: BankAct;
  readonly by: BankWriter;
  /** Null: the file was removed. */
  readonly bytes: number | null;
  /** False: it was too large for the history, or the history was full. */
  readonly isKept: boolean;
}

export interface BankLock {
  readonly path: string;
  readonly by: BankWriter;
  readonly until: string;
}

/** The limits of one user. */
export interface BankLimits {
  /** The size of one file, for tools and for the history. */
  readonly fileBytes: number;
  readonly files: number;
  /** Contents of all versions together. */
  readonly historyBytes: number;
  readonly versions: number;
  /** The number of locks that one writer may have at once. */
  readonly locks: number;
}

export const defaultBankLimits: BankLimits = {
  fileBytes: 512 * 1024,
  files: 10_000,
  historyBytes: 256 * 1024 ** 2,
  versions: 100_000,
  locks: 32,
};

export const lockSeconds = { default: 60, most: 600 } as const;

export const maxDepth = 8;
const maxNameBytes = 255;
const maxPathBytes = 1024;

/** A path in the bank: names between slashes, none of which is `.` or `..`, empty, too long, or has control characters. */
export function isBankPath(path: string): boolean {
  const names = path.split('/');
  return (
    Buffer.byteLength(path) <= maxPathBytes &&
    path.isWellFormed() &&
    names.length <= maxDepth &&
    names.every((name) => name !== '.' && name !== '..' && /^[^\x00-\x1f\x7f]+$/.test(name)) &&
    names.every((name) => Buffer.byteLength(name) <= maxNameBytes)
  );
}

export function checkBankPath(path: string): string {
  if (isBankPath(path)) return path;
  throw new Fault('invalid', `${printable(path)} is not a file of the memory bank`, {
    hint: 'Write PROJECT/FILE, such as shop/decisions.md, without "..".',
  });
}

/** Accepts one name, without folders. */
export function checkBankProject(name: string): string {
  if (!name.includes('/') && isBankPath(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a project of the memory bank`, {
    hint: 'A project is one folder of the memory bank, such as shop.',
  });
}

export function writerText({ kind, name }: BankWriter): string {
  if (kind === 'person') return name;
  if (kind === 'sandbox') return `sandbox ${name}`;
  return name === '' ? 'an unknown writer' : `one of ${name}`;
}
