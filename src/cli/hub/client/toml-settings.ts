/**
 * The entry for the hub in settings of TOML: a table of its own, appended, or replaced where it is. Everything else stays as it is, to the byte.
 * The text is divided into statements, so that a string or an array of several lines that looks like a table is none.
 */
import { Fault } from '../../../model/fault.ts';
import type { ServerEntry } from './server-entry.ts';

const table = 'mcp_servers.carrel';

export function tomlEntry({ command, args, env = {} }: ServerEntry): string {
  const variables = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return [
    `[${table}]`,
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((arg) => JSON.stringify(arg)).join(', ')}]`,
    ...(variables.length > 0 ? [`env = { ${variables.join(', ')} }`] : []),
    '',
  ].join('\n');
}

/** `text` is empty where there is no file yet. */
export function withTomlEntry(text: string, entry: ServerEntry): string {
  const own = ownStatements(text);
  const added = tomlEntry(entry);
  if (own.length === 0) return `${text}${separator(text)}${added}`;
  let result = text;
  for (const { start, end } of own.slice(1).reverse()) result = result.slice(0, start) + result.slice(end);
  return result.slice(0, own[0]!.start) + added + result.slice(own[0]!.end);
}

export function tomlHolds(text: string): boolean {
  return ownStatements(text).length > 0;
}

function separator(text: string): string {
  if (text.trim() === '') return '';
  return text.endsWith('\n') ? '\n' : '\n\n';
}

interface Statement {
  readonly start: number;
  readonly end: number;
  /** The name in a header, or the key of an assignment, without quotes and spaces. */
  readonly name: string;
  readonly isHeader: boolean;
}

/** Statements of our tables. Another way to write the same entry cannot be replaced safely. */
function ownStatements(text: string): Statement[] {
  const own: Statement[] = [];
  let within = '';
  for (const statement of statementsOf(text)) {
    if (statement.isHeader) within = statement.name;
    if (isOwn(within)) own.push(statement);
    else if (!statement.isHeader && mayBeOwn(within === '' ? statement.name : `${within}.${statement.name}`)) {
      throw new Fault('conflict', `it has ${statement.name} in a form that cannot be replaced`, {
        hint: `Write it as a table of its own, [${table}], or remove it.`,
      });
    }
  }
  return own;
}

function isOwn(name: string): boolean {
  return name === table || name.startsWith(`${table}.`);
}

/** A key above our table, or in it. */
function mayBeOwn(name: string): boolean {
  return isOwn(name) || table.startsWith(`${name}.`);
}

/** Strings of all four kinds, comments, and every other single character. */
const token = /""".*?(?<!\\)(?:\\\\)*"{3,5}|'''.*?'{3,5}|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|#[^\n]*|./gsy;

/** From the first character of each to the end of its line. Comments and empty lines between them belong to none. */
function statementsOf(text: string): Statement[] {
  const found: Statement[] = [];
  let [start, depth] = [-1, 0];
  for (const { 0: part, index } of text.matchAll(token)) {
    if (part === '"' || part === "'") throw new Fault('invalid', 'it is not TOML: a string has no end');
    if (start < 0 && !/^[\s#]/.test(part)) start = index;
    if (part === '[' || part === '{') depth += 1;
    if (part === ']' || part === '}') depth -= 1;
    if (part !== '\n' || depth > 0 || start < 0) continue;
    found.push(statementOf(text, start, index + 1));
    start = -1;
  }
  if (depth !== 0) throw new Fault('invalid', 'it is not TOML: a bracket has no end');
  if (start >= 0) found.push(statementOf(text, start, text.length));
  return found;
}

function statementOf(text: string, start: number, end: number): Statement {
  const isHeader = text[start] === '[';
  const name = isHeader ? /^\[+([^\]]*)/.exec(text.slice(start, end))![1]! : text.slice(start, end).split('=')[0]!;
  return { start, end, isHeader, name: name.replaceAll(/["'\s]/g, '') };
}
