/** The page about the HTTP API, from the OpenAPI document. */

import { openapi } from '../../src/kernel/server/openapi.ts';
import { faultTable } from '../../src/model/fault.ts';
import { routes } from '../../src/noun/app.ts';
import { type JsonSchema, rowsOf, table, typeText } from './schema.ts';

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonSchema }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export function apiPage(): string {
  const { paths } = openapi('0', routes) as { readonly paths: Paths };
  return `# HTTP API

<!-- Made by \`npm run docs\`. Change the declarations of the routes instead. -->

The daemon answers HTTP on the unix socket \`carrel.sock\` of its home, for the owner of the installation, and on the socket that \`share\` in
\`config.yaml\` names, for users with a token (\`authorization: Bearer TOKEN\`). The OpenAPI document of a running daemon, with the answers in
full, is at \`/openapi.json\`:

\`\`\`sh
curl -s --unix-socket ~/.carrel/carrel.sock http://carrel/openapi.json
\`\`\`

Bodies and answers are JSON. Unknown fields are refused with their path. A refusal is \`{code, message, hint?, data?}\`:

${table(
  ['code', 'status', 'retry'],
  Object.entries(faultTable).map(([code, { http, retry }]) => [`\`${code}\``, `${http}`, retry ? 'yes' : 'no']),
)}

${[...byNoun(paths)].map(([noun, operations]) => [`## ${noun}`, ...operations].join('\n\n')).join('\n\n')}
`;
}

/** By the first word of the path after the version. */
function byNoun(paths: Paths): Map<string, string[]> {
  const nouns = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    const noun = path
      .replace(/^\/v1\//, '')
      .split(/[/.]/)
      .find(Boolean)!;
    const texts = Object.entries(methods).map(([method, operation]) => operationText(method, path, operation));
    nouns.set(noun, [...(nouns.get(noun) ?? []), ...texts]);
  }
  return nouns;
}

function operationText(method: string, path: string, operation: Operation): string {
  const query = operation.parameters.filter((parameter) => parameter.in === 'query');
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const fields = [
    ...query.map(({ name, schema }) => [`\`?${name}\``, typeText(schema), '']),
    ...(body
      ? rowsOf(body).map(({ key, schema, required }) => [`\`${key}\``, typeText(schema), required ? 'yes' : ''])
      : []),
  ];
  const parts = [`### ${method.toUpperCase()} ${path}`, `${operation.summary}.`, `Answer: ${answerText(operation)}.`];
  if (fields.length > 0) parts.push(table(['field', 'type', 'required'], fields));
  return parts.join('\n\n');
}

function answerText({ responses }: Operation): string {
  const [status, { description, content }] = Object.entries(responses)[0]!;
  const json = content?.['application/json']?.schema;
  if (!json || status !== '200') return description.toLowerCase();
  const list = json.type === 'array' && json.items;
  const names = Object.keys((list || json).properties ?? {}).map((name) => `\`${name}\``);
  const object = names.length > 0 ? names.join(', ') : typeText(json);
  return list ? `a list of ${object}` : object;
}
