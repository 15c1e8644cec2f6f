/** The entry for the hub in settings of JSON, with comments. Comments and all other values stay. */
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { Fault } from '../../../model/fault.ts';

/** `text` is empty where there is no file yet. */
export function withJsonEntry(text: string, key: string, entry: object): string {
  const whole = text.trim() === '' ? '{}\n' : text;
  check(whole, key);
  const formattingOptions = {
    insertSpaces: !/^\t/m.test(whole),
    tabSize: 2,
    eol: whole.includes('\r\n') ? '\r\n' : '\n',
  };
  return applyEdits(whole, modify(whole, [key, 'carrel'], entry, { formattingOptions }));
}

export function jsonHolds(text: string, key: string): boolean {
  const content = parse(text, [], { allowTrailingComma: true }) as Record<string, Record<string, unknown>> | undefined;
  return content?.[key]?.carrel !== undefined;
}

function check(text: string, key: string): void {
  const errors: ParseError[] = [];
  const content: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) throw new Fault('invalid', `it is not JSON: ${printParseErrorCode(first.error)} at ${first.offset}`);
  if (!isObject(content)) throw new Fault('invalid', 'it is not a JSON object');
  if (content[key] !== undefined && !isObject(content[key])) throw new Fault('invalid', `${key} is not an object`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
