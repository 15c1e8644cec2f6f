/** The owner's rules: `policy.yaml` in the home. */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isRefusal, readBounded } from '../lib/bounded-read.ts';
import { list, Misfit, object, oneOf, type Shaped, text } from '../model/shape.ts';

const word = text({ min: 1, max: 200, pattern: /^[^\x00-\x1f\x7f]*$/, says: 'a word' });

const rule = object(
  {
    decision: oneOf('allow', 'ask', 'deny'),
    /** The words the command begins with, the program first. */
    command: list(word, 20),
  },
  {
    /** For `allow`: flags without a value that may follow. */
    flags: list(word, 50),
    /** For `allow`: what else may follow. */
    args: oneOf('none', 'paths', 'any'),
    reason: text({ max: 500 }),
  },
);
const file = object({ rules: list(rule, 500) });

export type OwnerRule = Shaped<typeof rule>;
export type OwnerRules = { readonly rules: readonly OwnerRule[] } | { readonly unusable: string };

const maxBytes = 256 * 1024;

/** The rules, or why none can be trusted. `cwd` is where an agent works. */
export async function readOwnerRules(home: string, cwd: string): Promise<OwnerRules> {
  const path = join(home, 'policy.yaml');
  const content = readTrusted(home, path, cwd);
  if (content === null) return { rules: [] };
  if (typeof content === 'object') return content;
  const { readYaml } = await import('../lib/yaml.ts');
  try {
    const { rules } = file(readYaml(content, path).content, []);
    const empty = rules.findIndex(({ command }) => command.length === 0);
    return empty === -1 ? { rules } : { unusable: `${path}: rules[${empty}].command: must not be empty` };
  } catch (error) {
    const { message } = error as Error;
    return { unusable: error instanceof Misfit ? `${path}: ${message}` : message };
  }
}

/** Null: there is no such file. */
function readTrusted(home: string, path: string, cwd: string): string | { readonly unusable: string } | null {
  try {
    const found = readBounded(path, maxBytes);
    if (found === null) return null;
    const reason =
      foreignHand(path, found.stat) ?? foreignHand(home, lstatSync(realpathSync(home))) ?? withinReach(home, cwd);
    return reason === null ? found.bytes.toString('utf8') : { unusable: reason };
  } catch (error) {
    const isRules = !isRefusal(error, 'not_regular') && !isRefusal(error, 'too_large');
    return {
      unusable: isRules ? `${path} cannot be read: ${(error as Error).message}` : `${path} is not a file of rules`,
    };
  }
}

function foreignHand(path: string, { uid, mode }: Stats): string | null {
  const me = process.getuid?.() ?? 0;
  if (uid !== me && uid !== 0) return `${path} belongs to another account`;
  return (mode & 0o022) === 0 ? null : `${path} can be written by others; close it: chmod go-w ${path}`;
}

/** An agent writes where it works. */
function withinReach(home: string, cwd: string): string | null {
  const folder = realpathSync(cwd);
  const reached = folder === '/' || `${realpathSync(home)}/`.startsWith(`${folder}/`);
  return reached ? `${home} is inside the working folder, where an agent could write it` : null;
}
