import { constants } from 'node:os';

export function signalNumber(name: string): number {
  return constants.signals[name as NodeJS.Signals] ?? 0;
}

/** The name behind an exit code of 128 + n, as shells and keepers report a death by signal. */
export function signalOfExit(exitCode: number): string | null {
  const number = exitCode - 128;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}
