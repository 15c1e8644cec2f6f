import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';

export const secretNamePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
export const maxSecretBytes = 1024 ** 2;
export const maxSecretsPerUser = 1000;

/** The information about a secret that may be shown: never the value, nor anything derived from it. */
export interface SecretInfo {
  readonly name: string;
  readonly updatedAt: string;
  readonly sizeBytes: number;
}

/** Returns the name, or throws a Fault that shows it safely. */
export function checkSecretName(name: string): string {
  if (secretNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a secret`, {
    hint: 'Use 1 to 64 of letters, digits, "_", "." and "-", starting with a letter or digit.',
  });
}

export function checkSecretValue(name: string, value: Uint8Array): void {
  if (value.length === 0) throw new Fault('invalid', `the value of secret ${name} is empty`);
  if (value.length > maxSecretBytes)
    throw new Fault('invalid', `the value of secret ${name} is larger than ${maxSecretBytes} bytes`);
}
