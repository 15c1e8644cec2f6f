import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { SandboxView } from '../../sandbox/api.ts';
import { apply } from './apply.ts';
import { labels, showAttempts } from './attempts.ts';

interface Options {
  readonly test?: string;
  readonly take?: string;
}

export async function compare(context: Context, invocation: Invocation<Options>): Promise<number> {
  const { args, options } = invocation;
  if (options.take !== undefined) return take(context, args, options.take);
  const client = connect(context);
  const views = await attemptsNamed(client, args.map(checkSandboxName));
  await showAttempts(context, client, views, { test: options.test });
  if (!context.json) context.out.note(`take one: carrel compare --take ${views[0]!.name}`);
  return 0;
}

async function take(context: Context, args: readonly string[], name: string): Promise<number> {
  if (args.length > 0)
    throw new Fault('invalid', '--take names the one to apply; other names are not compared with it', {
      hint: `carrel compare --take ${name}`,
    });
  return apply(context, { args: [name], options: {}, command: [] });
}

/** Finds sandboxes by name, or all sandboxes of a `try` by its name; without names, those of the newest `try`. */
async function attemptsNamed(client: Client, names: readonly string[]): Promise<SandboxView[]> {
  const all = await client.call('GET /v1/sandboxes');
  const groups = new Map<string, SandboxView[]>();
  for (const view of all) {
    const group = view.labels[labels.group];
    if (group !== undefined) groups.set(group, [...(groups.get(group) ?? []), view]);
  }
  const wanted = names.length === 0 ? [newest(groups)] : names;
  return wanted.flatMap((name) => {
    const one = all.find((view) => view.name === name);
    const found = one === undefined ? groups.get(name) : [one];
    if (found === undefined) throw unknown(name);
    return [...found].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  });
}

function newest(groups: ReadonlyMap<string, readonly SandboxView[]>): string {
  const [last] = [...groups].sort(([, [one]], [, [other]]) => other!.createdAt.localeCompare(one!.createdAt));
  if (last) return last[0];
  throw new Fault('not_found', 'there is nothing to compare', {
    hint: 'Make some attempts: carrel try 3 . -- CMD…, or name sandboxes: carrel compare A B',
  });
}

function unknown(name: string): Fault {
  return new Fault('not_found', `no sandbox and no try is called ${name}`, { hint: 'See: carrel ls' });
}
