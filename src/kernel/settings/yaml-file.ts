/**
 * Reads settings in YAML and checks them against a schema. A mistake is named with the file, its line and the path of
 * the field.
 */
import type { z } from 'zod';
import { issueText } from '../../lib/schema/issue-text.ts';
import { readYaml, type YamlDocument } from '../../lib/text/yaml.ts';
import { Fault, isFault } from '../../model/fault.ts';

const hint = 'Correct the file or remove it.';

export function checkYaml<S extends z.ZodType>(path: string, text: string, schema: S): z.output<S> {
  return openYaml(path, text, schema).content;
}

export interface CheckedYaml<T> {
  readonly content: T;
  /** Runs a further check of a field; its refusal gets the file and the line. */
  at<R>(field: string, check: () => R): R;
}

export function openYaml<S extends z.ZodType>(path: string, text: string, schema: S): CheckedYaml<z.output<S>> {
  const document = readYaml(text, path);
  const at = <R>(field: string, check: () => R): R => {
    try {
      return check();
    } catch (error) {
      if (!isFault(error)) throw error;
      const place = document.locate(field.split('.')).text;
      throw new Fault('invalid', `${place}: ${error.message}`, { hint: error.hint ?? hint, cause: error });
    }
  };
  return { content: conforming(document, schema), at };
}

function conforming<S extends z.ZodType>({ content, locate }: YamlDocument, schema: S): z.output<S> {
  const result = schema.safeParse(content ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const place = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const field = issue.code === 'unrecognized_keys' ? [...place, issue.keys[0]!] : place;
  const where = place.length > 0 ? `${place.join('.')}: ` : '';
  throw new Fault('invalid', `${locate(field).text}: ${where}${issueText(issue)}`, { hint });
}
