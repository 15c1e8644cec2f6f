import { Fault } from './fault.ts';

export const sandboxNamePattern = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
export const idPattern = /^[0-9a-f]{16}$/;
/** Of an environment. */
export const variableNamePattern = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** The name as given, or a Fault that shows it safely. */
export function checkSandboxName(name: string): string {
  if (sandboxNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a sandbox name`, {
    hint: 'Use 1 to 63 of a-z, 0-9, "_", "." and "-", starting with a letter or digit.',
  });
}

/** Text from anywhere, safe to print on a terminal in one line: quoted, control characters escaped, bounded. */
export function printable(text: string, max = 80): string {
  const quoted = JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
  return quoted.replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Where the commits of a sandbox are, in the repository of its project. A name may have dots where a ref may not. */
export function refFolder(sandbox: string): string {
  return `refs/carrel/${sandbox.replace(/\.(?=\.|$|lock$)/g, '%2e')}`;
}
