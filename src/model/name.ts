import { Fault } from './fault.ts';
import { blank, codeText, invisible } from './invisible.ts';

export const sandboxNamePattern = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
export const idPattern = /^[0-9a-f]{16}$/;
/** The name of an environment variable. */
export const variableNamePattern = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** Returns the name, or throws a Fault that shows it safely. */
export function checkSandboxName(name: string): string {
  if (sandboxNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a sandbox name`, {
    hint: 'Use 1 to 63 of a-z, 0-9, "_", "." and "-", starting with a letter or digit.',
  });
}

/** Untrusted text made safe for one line of a terminal: quoted, bounded, without invisible characters. */
export function printable(text: string, max = 80): string {
  const quoted = JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
  return quoted.replace(invisible, codeText).replace(blank, codeText);
}

/**
 * The folder of refs for the commits of a sandbox in its project's repository. Dots that a ref may not have are
 * escaped.
 */
export function refFolder(sandbox: string): string {
  return `refs/carrel/${sandbox.replace(/\.(?=\.|$|lock$)/g, '%2e')}`;
}
