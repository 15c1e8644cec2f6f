/**
 * Writes plain data as YAML that all parsers read alike: text is in double quotes, and so are keys that YAML 1.1 would read as
 * another type; characters that are not printable are escaped; nothing is interpolated.
 */
export type Mapping = { readonly [key: string]: YamlData | undefined };
export type YamlData = string | number | boolean | readonly YamlData[] | Mapping;

/** The lines of a mapping or list, indented by `depth`. */
export function yamlLines(data: YamlData, depth = 0): string[] {
  const pad = '  '.repeat(depth);
  if (isList(data)) return data.flatMap((item) => listItem(item, depth));
  if (typeof data !== 'object') return [`${pad}${scalar(data)}`];
  return entriesOf(data).flatMap(([key, value]) => {
    const head = `${pad}${keyText(key)}:`;
    return isNested(value) ? [head, ...yamlLines(value, depth + 1)] : [`${head} ${flat(value)}`];
  });
}

function listItem(item: YamlData, depth: number): string[] {
  const pad = '  '.repeat(depth);
  if (!isNested(item)) return [`${pad}- ${flat(item)}`];
  const [first, ...rest] = yamlLines(item, depth + 1);
  return [`${pad}- ${first!.trimStart()}`, ...rest];
}

function isList(data: YamlData): data is readonly YamlData[] {
  return Array.isArray(data);
}

function isNested(data: YamlData): data is readonly YamlData[] | Mapping {
  if (typeof data !== 'object') return false;
  return isList(data) ? data.some((item) => typeof item === 'object') : entriesOf(data).length > 0;
}

/** Scalars, lists of scalars and empty collections take one line. */
function flat(data: YamlData): string {
  if (isList(data)) return `[${data.map((item) => scalar(item as string)).join(', ')}]`;
  return typeof data === 'object' ? '{}' : scalar(data);
}

const yamlKeyword = /^(y|n|yes|no|on|off|true|false|null)$/i;

function keyText(key: string): string {
  return /^[a-z_][a-z0-9_-]*$/i.test(key) && !yamlKeyword.test(key) ? key : quoted(key);
}

function scalar(data: string | number | boolean): string {
  // docker-compose interpolates a dollar sign unless it is doubled.
  return typeof data === 'string' ? quoted(data.replaceAll('$', '$$$$')) : String(data);
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function entriesOf(data: Mapping): [string, YamlData][] {
  return Object.entries(data).filter((entry): entry is [string, YamlData] => entry[1] !== undefined);
}
