/** Edits of JSON that may have comments: everything but the value at a path stays as it is. */
import { applyEdits, type JSONPath, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { Fault } from '../../model/fault.ts';
import { isObject } from '../../model/object.ts';

/** An empty text is an empty object. Anything that is not an object is refused. */
export function parseJsonc(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const content: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) throw new Fault('invalid', `it is not JSON: ${printParseErrorCode(first.error)} at ${first.offset}`);
  if (isObject(content)) return content;
  throw new Fault('invalid', 'it is not a JSON object');
}

/** Sets the value at a path; `undefined` removes it. A path of a list that ends with -1 appends to the list. */
export function editedJsonc(text: string, path: JSONPath, value: unknown): string {
  const whole = text.trim() === '' ? '{}\n' : text;
  const formattingOptions = {
    insertSpaces: !/^\t/m.test(whole),
    tabSize: 2,
    eol: whole.includes('\r\n') ? '\r\n' : '\n',
  };
  const isArrayInsertion = path.at(-1) === -1;
  return applyEdits(whole, modify(whole, path, value, { formattingOptions, isArrayInsertion }));
}

/** The text in which only the values that differ between the two contents are changed. */
export function changedJsonc(text: string, before: unknown, after: unknown, path: JSONPath = []): string {
  if (JSON.stringify(before) === JSON.stringify(after)) return text;
  if (!isObject(before) || !isObject(after)) return editedJsonc(text, path, after);
  let result = text;
  for (const [name, value] of Object.entries(after))
    result = changedJsonc(result, before[name], value, [...path, name]);
  return result;
}
