/** The owner's rules: `policy.yaml` in the home. */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isRefusal, readBounded } from '../../../lib/file/bounded-read.ts';
import { list, object, oneOf, type Shaped, ShapeError, text } from '../../../model/shape.ts';

const word = text({ min: 1, max: 200, pattern: /^[^\x00-\x1f\x7f]*$/, says: 'a word' });

const rule = object(
  {
    decision: oneOf('allow', 'ask', 'deny'),
    /** The first words of the command, including the program. */
    command: list(word, 20),
  },
  {
    /** For `allow`: flags without a value that are allowed. */
    flags: list(word, 50),
    /** For `allow`: which arguments are allowed. */
    args: oneOf('none', 'paths', 'any'),
    reason: text({ max: 500 }),
  },
);
const file = object({ rules: list(rule, 500) });

export type OwnerRule = Shaped<typeof rule>;
export type OwnerRules = { readonly rules: readonly OwnerRule[] } | { readonly unusable: string };

const maxBytes = 256 * 1024;

/** The rules, or why the file cannot be trusted. `cwd` is the working folder of the agent. */
export async function readOwnerRules(home: string, cwd: string): Promise<OwnerRules> {
  const path = join(home, 'policy.yaml');
  const content = readTrusted(home, path, cwd);
  if (content === null) return { rules: [] };
  if (typeof content === 'object') return content;
  const { readYaml } = await import('../../../lib/text/yaml.ts');
  try {
    const { rules } = file(readYaml(content, path).content, []);
    const empty = rules.findIndex(({ command }) => command.length === 0);
    return empty === -1 ? { rules } : { unusable: `${path}: rules[${empty}].command: must not be empty` };
  } catch (error) {
    const { message } = error as Error;
    return { unusable: error instanceof ShapeError ? `${path}: ${message}` : message };
  }
}

/** Null: there is no such file. */
function readTrusted(home: string, path: string, cwd: string): string | { readonly unusable: string } | null {
  try {
    const found = readBounded(path, maxBytes);
    if (found === null) return null;
    const reason =
      writableByOthers(path, found.stat) ??
      writableByOthers(home, lstatSync(realpathSync(home))) ??
      writableByAgent(home, cwd);
    return reason === null ? found.bytes.toString('utf8') : { unusable: reason };
  } catch (error) {
    const isUnfit = isRefusal(error, 'not_regular') || isRefusal(error, 'too_large');
    const reason = isUnfit ? 'is not a regular file of at most 256 KiB' : `cannot be read: ${(error as Error).message}`;
    return { unusable: `${path} ${reason}` };
  }
}

function writableByOthers(path: string, { uid, mode }: Stats): string | null {
  const me = process.getuid?.() ?? 0;
  if (uid !== me && uid !== 0) return `${path} belongs to another account`;
  return (mode & 0o022) === 0 ? null : `${path} can be written by others; to fix it: chmod go-w ${path}`;
}

/** An agent can write its working folder. */
function writableByAgent(home: string, cwd: string): string | null {
  const folder = realpathSync(cwd);
  const isInside = folder === '/' || `${realpathSync(home)}/`.startsWith(`${folder}/`);
  return isInside ? `${home} is inside the working folder, which the agent can write` : null;
}
