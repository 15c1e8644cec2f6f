/**
 * A table of a TOML file: appended, replaced where it is, or removed. Everything else stays as it is, to the byte.
 * The text is divided into statements, so that a string or an array of several lines is not mistaken for a table.
 */
import { Fault } from '../../model/fault.ts';

/** `text` is empty if there is no file yet; `added` begins with the header of the table. */
export function withTomlTable(text: string, table: string, added: string): string {
  const own = ownStatements(text, table);
  if (own.length === 0) return `${text}${separator(text)}${added}`;
  const result = without(text, own.slice(1));
  return result.slice(0, own[0]!.start) + added + result.slice(own[0]!.end);
}

export function withoutTomlTable(text: string, table: string): string {
  return without(text, ownStatements(text, table));
}

/** The statements of a table and of the tables in it; null: there is no such table. */
export function tomlTable(text: string, table: string): string | null {
  const own = ownStatements(text, table);
  return own.length === 0 ? null : own.map(({ start, end }) => text.slice(start, end)).join('');
}

function without(text: string, statements: readonly Statement[]): string {
  let result = text;
  for (const { start, end } of [...statements].reverse()) result = result.slice(0, start) + result.slice(end);
  return result;
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

/** The statements of the table. Throws if the table is written in another form, which cannot be replaced safely. */
function ownStatements(text: string, table: string): Statement[] {
  const own: Statement[] = [];
  let within = '';
  for (const statement of statementsOf(text)) {
    if (statement.isHeader) within = statement.name;
    if (isOwn(within, table)) own.push(statement);
    else if (!statement.isHeader && mayBeOwn(within === '' ? statement.name : `${within}.${statement.name}`, table)) {
      throw new Fault('conflict', `it has ${statement.name} in a form that cannot be replaced`, {
        hint: `Write it as a table of its own, [${table}], or remove it.`,
      });
    }
  }
  return own;
}

function isOwn(name: string, table: string): boolean {
  return name === table || name.startsWith(`${table}.`);
}

/** True for a key that is the table, contains it or is in it. */
function mayBeOwn(name: string, table: string): boolean {
  return isOwn(name, table) || table.startsWith(`${name}.`);
}

/** Strings of all four kinds, comments, and every other single character. */
const token = /""".*?(?<!\\)(?:\\\\)*"{3,5}|'''.*?'{3,5}|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|#[^\n]*|./gsy;

/**
 * Each statement is from its first character to the end of its line. Comments and empty lines between statements belong
 * to none.
 */
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
