/** The pages about config.yaml and carrel.yaml: each key with type, default, meaning and an example. */
import { stringify } from 'yaml';
import { z } from 'zod';
import { configSchema } from '../../src/kernel/settings/config.ts';
import { jsonSchema } from '../../src/noun/project/fleet/schema.ts';
import { code, exampleOf, type JsonSchema, type Row, rowsOf, table, typeText } from './schema.ts';

const generated = '<!-- Made by `npm run docs`. Change the schema instead. -->';

/** Names in the examples. */
const names: Readonly<Record<string, string>> = { services: 'notes', sandboxes: 'ada' };

export function configJsonSchema(): JsonSchema {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

export function configPage(): string {
  return `# config.yaml

${generated}

The settings of one installation: \`config.yaml\` in its home (\`~/.carrel\`, or \`CARREL_HOME\`). The file and every key are optional.

- A change is used by the next command. A mistake is refused with its line, and the daemon keeps the last valid settings until it is corrected.
- \`share\`, \`docker.socket\`, \`audit\`, \`logs\`, \`events\` and \`volumes\` are read when the daemon starts. After a change: \`carrel down\`; the next
  command starts a new daemon, and sandboxes keep running.
- A size is a number of bytes, or a number with a unit: \`512m\`, \`4g\`.

${sections(configJsonSchema())}
`;
}

export function carrelYamlPage(): string {
  return `# carrel.yaml

${generated}

A \`carrel.yaml\` declares a fleet: projects and the sandboxes for them. \`carrel init\` writes one, \`carrel up\` creates what is missing and
replaces what changed, \`carrel up --dry-run\` shows the steps, \`carrel compose\` prints it as a docker-compose.yml. Steps that remove a sandbox
ask first. [fleet.md](fleet.md) shows how to use it.

Editors check the file with \`schema/carrel.schema.json\`; \`carrel init\` puts a copy beside the file. Only \`name\` is required.
A size is a number of bytes, or a number with a unit: \`512m\`, \`4g\`.

${sections(jsonSchema() as JsonSchema)}
`;
}

/** Keys without keys of their own first, then one section for each of the others. */
function sections(schema: JsonSchema): string {
  const entries = Object.entries(schema.properties ?? {});
  const isSection = ([, value]: [string, JsonSchema]) => rowsOf(value).length > 0;
  const plain = entries.filter((entry) => !isSection(entry));
  const top: JsonSchema = { type: 'object', properties: Object.fromEntries(plain), required: schema.required ?? [] };
  return [
    section('Top level', '', top, ''),
    ...entries.filter(isSection).map(([key, value]) => keySection(key, value)),
  ].join('\n\n');
}

function keySection(key: string, schema: JsonSchema): string {
  return section(`\`${key}\``, schema.description ?? '', schema, key);
}

function section(title: string, text: string, schema: JsonSchema, key: string): string {
  const example = exampleOf(schema, names[key] ?? 'name');
  const yaml = stringify(key ? { [key]: example } : example, { lineWidth: 0, flowCollectionPadding: false });
  const rows = rowsOf(schema, key ? `${key}.` : '').map(cells);
  const head = ['key', 'type', 'default', 'meaning'];
  return [`## ${title}`, text, table(head, rows), `\`\`\`yaml\n${yaml}\`\`\``].filter(Boolean).join('\n\n');
}

/** A default that is no plain value is the last sentence of the description. */
function cells({ key, schema, required }: Row): string[] {
  const [, meaning, words] = /^(.*?)(?: Default: (.*)\.)?$/s.exec(schema.description ?? '')!;
  const shown = schema.default === undefined ? (words ?? (required ? 'required' : '')) : code(schema.default);
  if (!meaning || !shown) throw new Error(`${key} has no ${meaning ? 'default' : 'description'} in its schema`);
  return [code(key), typeText(schema), shown, meaning];
}
