import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { counted } from '../../../client/output/count.ts';
import { pathText } from '../../../client/output/path-text.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { pathFields } from '../../../client/paths.ts';
import { canAsk, confirm } from '../../../client/stream/confirm.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { DiscardView } from '../api.ts';

export async function discard(context: Context, invocation: Invocation<{ yes?: boolean }>): Promise<void> {
  const { out } = context;
  const name = checkSandboxName(invocation.args[0]!);
  const client = connect(context);
  const input = { path: { name }, body: await pathFields(client, name, invocation.args.slice(1)) };
  if (!invocation.options.yes) {
    if (canAsk(out)) {
      const { changes } = await during(
        out,
        `reading the changes of ${name}`,
        client.call('POST /v1/sandboxes/{name}/changes', input),
      );
      if (changes.length === 0) return out.say(`${name} has no changes`);
      await agree(`Discard ${counted(changes.length, 'change')} of ${name}?`);
    } else if (input.body.paths?.every((path) => !isWhole(path)) !== true) throw unconfirmed(name);
  }
  const view = await during(
    out,
    `discarding changes of ${name}`,
    client.call('POST /v1/sandboxes/{name}/discard', input),
  );
  if (context.json) return out.document(view);
  if (view.paths.length === 0) return out.say(`${name} has no changes`);
  out.print(...discarded(name, view));
}

/** Whether the path means the whole project, such as `.` or `/workspace`. */
function isWhole(path: string): boolean {
  return /^(?:\/workspace)?[./]*$/.test(path);
}

export function discarded(name: string, { paths, snapshot }: DiscardView): string[] {
  return [
    ...paths.map((path) => `  ${pathText(path)}`),
    `discarded ${counted(paths.length, 'change')} of ${name}`,
    ...(snapshot === null ? [] : [`carrel restore ${name} ${plain(snapshot.id)} brings it back`]),
  ];
}

async function agree(question: string): Promise<void> {
  if (!(await confirm(question))) throw new Fault('cancelled', 'nothing was discarded');
}

function unconfirmed(name: string): Fault {
  return new Fault('invalid', `this would discard all changes of ${name}, and stdin is not a terminal to ask at`, {
    hint: `Add --yes, or name paths: carrel discard ${name} PATH…`,
  });
}
