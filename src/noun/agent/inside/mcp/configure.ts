/** Updates the settings files of agents in a home to the MCP servers of the sandbox. */
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import { isObject } from '../../../../model/object.ts';
import { mcpAddedPath } from '../../model/mcp.ts';
import { withAdditions } from './addition.ts';
import { agentFiles } from './format.ts';
import type { ConfigAddition, McpList } from './mcp.ts';

type Added = Record<string, readonly ConfigAddition[]>;

export function configure(home: string, list: McpList, warn: (text: string) => void): void {
  const record = join(home, mcpAddedPath);
  const before = recordIn(contentOf(record));
  const after: Added = {};
  for (const { path, wanted } of agentFiles(list)) {
    const earlier = before[path] ?? [];
    if (earlier.length + wanted.length === 0) continue;
    after[path] = changed(join(home, path), earlier, wanted, warn);
  }
  const text = `${JSON.stringify(after, null, 2)}\n`;
  if (text !== contentOf(record)) replace(record, text);
}

/** A file that cannot be changed safely stays as it is, and so does the record of its additions. */
function changed(
  file: string,
  before: readonly ConfigAddition[],
  wanted: readonly ConfigAddition[],
  warn: (text: string) => void,
): readonly ConfigAddition[] {
  try {
    const old = contentOf(file);
    const { text, added } = withAdditions(old, before, wanted);
    if (text !== old) replace(file, text);
    return added;
  } catch (error) {
    warn(`${file} was not changed, ignoring: ${(error as Error).message}`);
    return before;
  }
}

function recordIn(text: string): Added {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? (value as Added) : {};
  } catch {
    return {};
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

/** Replaces a file atomically; a link to a file stays a link. */
export function replace(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const [target, mode] = targetOf(file);
  writeFileSync(`${target}.carrel-new`, text, { mode });
  renameSync(`${target}.carrel-new`, target);
}

function targetOf(file: string): [string, number] {
  try {
    const target = realpathSync(file);
    return [target, statSync(target).mode & 0o777];
  } catch {
    return [file, 0o600];
  }
}
