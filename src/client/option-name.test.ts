import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Fault } from '../model/fault.ts';
import { routes } from '../noun/app.ts';
import { table } from '../noun/cli.ts';
import type { CommandEntry, OptionEntry } from './cli.ts';
import { withOptionName } from './option-name.ts';

/** Options whose value the CLI resolves, so that no field of a request carries it. */
const resolvedHere = [
  ...['clean --older', 'compare --take'],
  ...['chat --session', 'session show --session', 'session show --last', 'session send --session'],
  ...['session follow --session', 'session answer --session', 'session answer --question'],
  ...['session cancel --session', 'session fork --session', 'session close --session', 'session rm --session'],
  ...['user add --account', 'hub token --file'],
  ...['hub connect --client', 'hub connect --project', 'hub connect --tools'],
];

const flagOf = ({ flags }: OptionEntry) => /--[a-z-]+/.exec(flags)![0];
const takesValue = ({ flags }: OptionEntry) => flags.includes('<');

function refused(command: string, field: string): Fault {
  const entry = table.commands.find(({ name }) => name === command)!;
  return withOptionName(new Fault('invalid', `${field}: is wrong`, { data: { field } }), entry);
}

const everyOption = table.commands.flatMap((entry) => (entry.options ?? []).map((option) => [entry, option] as const));

describe('the table of commands', () => {
  it('names the field of every option that takes a value', () => {
    const without = everyOption.filter(([, option]) => takesValue(option) && option.field === undefined);
    expect(without.map(([{ name }, option]) => `${name} ${flagOf(option)}`)).toEqual(resolvedHere);
  });

  it('names only arguments that the command has', () => {
    for (const { name, args = '', fields = {} } of table.commands)
      for (const argument of Object.values(fields))
        expect(`${name} ${args}`).toMatch(new RegExp(`[<[]${argument}[.\\]>]`));
  });

  it('names only fields that some request has', () => {
    const known = requestFields();
    const named = [
      ...everyOption.flatMap(([, { field }]) => field ?? []),
      ...table.commands.flatMap(({ fields = {} }) => Object.keys(fields)),
    ];
    expect(named.filter((field) => !known.has(field))).toEqual([]);
  });
});

/** The fields of every body and query, two levels deep; `sandbox` has the options of a swarm's sandboxes. */
function requestFields(): Set<string> {
  const schemas = routes.flatMap(({ body, query }) => [...(body ? [body] : []), ...(query ? [query] : [])]);
  return new Set(
    schemas.flatMap((schema) => fieldsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))),
  );
}

function fieldsOf({ properties = {} }: z.core.JSONSchema.JSONSchema): string[] {
  return Object.entries(properties).flatMap(([name, inner]) => [
    name,
    ...(typeof inner === 'object' ? Object.keys(inner.properties ?? {}).map((below) => `${name}.${below}`) : []),
  ]);
}

const withField = everyOption.filter(([, { field }]) => field !== undefined);

it.each(withField.map(([entry, option]) => [entry.name, flagOf(option), entry, option] as const))(
  'the error for a value of %s %s names the option',
  (_name, _flag, entry: CommandEntry, option: OptionEntry) => {
    const same = entry.options!.filter(({ field }) => field === option.field).map(flagOf);
    for (const place of ['body', 'query', 'request', 'body.sandbox']) {
      const { message, hint } = refused(entry.name, `${place}.${option.field}.0`);
      expect(message).toBe(`${same[0]}: is wrong`);
      expect(hint).toBe(`carrel help ${entry.name}`);
    }
  },
);

it.each([
  ['create', 'limits.memoryBytes', '--memory'],
  ['create', 'body.labels.name', '--label'],
  ['create', 'body.volumes.0.target', '--volume'],
  ['create', 'body.command.0', 'the command'],
  ['create', 'body.project', 'PROJECT'],
  ['snapshot', 'body.label', 'LABEL'],
  ['apply', 'body.paths.0', 'PATH'],
  ['apply', 'body.author.name', 'the author'],
  ['volume restore', 'body.file', 'FILE'],
  ['swarm run', 'body.sandbox.limits.cpus', '--cpus'],
  ['swarm stop', 'body.names.0', 'NAME'],
  ['swarm add', 'body.containerId', 'ID'],
  ['swarm add', 'body.branchName', 'BRANCH'],
  ['swarm update', 'body.storyProgress.total', '--story-progress'],
])('in an error of %s the field %s is shown as %s', (command, field, name) => {
  expect(refused(command, field).message).toBe(`${name}: is wrong`);
});

it('an error that names no field of the command is not changed', () => {
  expect(refused('ls', 'body.name').message).toBe('body.name: is wrong');
  const other = new Fault('invalid', 'no good', { hint: 'another' });
  expect(withOptionName(other, table.commands[0]!)).toBe(other);
});
