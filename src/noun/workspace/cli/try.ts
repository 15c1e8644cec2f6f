/** Runs the same task in several sandboxes side by side. They run on when this command ends. */
import { randomBytes } from 'node:crypto';
import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { counted } from '../../../client/output/count.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { withTrust } from '../../../client/project-file/trust.ts';
import { catchSignals } from '../../../client/signals.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { SandboxRequest, SandboxView } from '../../sandbox/api.ts';
import { type SandboxOptions, sandboxRequest, withAuthor } from '../../sandbox/cli/request.ts';
import { labels, showAttempts } from './attempts.ts';

interface Options extends SandboxOptions {
  readonly test?: string;
}

const maxAttempts = 50;
const interruptedExit = 130;

export async function tryTask(context: Context, invocation: Invocation<Options>): Promise<number> {
  const { args, options, command } = invocation;
  const count = parseCount(args[0]!, 'N');
  if (count < 1 || count > maxAttempts) throw new Fault('invalid', `N: ${count} is not between 1 and ${maxAttempts}`);
  if (command.length === 0)
    throw new Fault('invalid', 'try needs a command', { hint: 'Put it after --: carrel try 3 . -- CMD…' });
  const group = checkSandboxName(options.name ?? `try-${randomBytes(2).toString('hex')}`);
  const body = await withAuthor(sandboxRequest({ ...options, name: group }, args[1], command));
  const client = connect(context);
  const views = await withTrust(context, client, () => createAll(client, body, count, options.test));
  if (options.detach) return detached(context, group, views);
  if (!context.json)
    context.out.note(`${counted(count, 'attempt')}: ${views.map(({ name }) => plain(name)).join(', ')}`);
  return whileWatched(context, client, group, views);
}

/** Creates all sandboxes or none. */
async function createAll(client: Client, body: SandboxRequest, count: number, test: string | undefined) {
  const made: SandboxView[] = [];
  try {
    for (let number = 1; number <= count; number += 1) {
      const own = {
        ...body.labels,
        [labels.group]: body.name!,
        ...(test === undefined ? {} : { [labels.test]: test }),
      };
      const request = { ...body, name: checkSandboxName(`${body.name}-${number}`), labels: own };
      made.push(await client.call('POST /v1/sandboxes', { body: request }));
    }
    return made;
  } catch (error) {
    for (const { name, id } of made)
      await client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { force: true, id } }).catch(() => {});
    throw error;
  }
}

function detached({ out, json }: Context, group: string, views: readonly SandboxView[]): number {
  if (json) out.document(views);
  else out.print(...views.map(({ name }) => plain(name)));
  out.note(`see: carrel compare ${group}`);
  return 0;
}

/** Waits for the attempts to end. Ctrl-C ends only the waiting. */
async function whileWatched(
  context: Context,
  client: Client,
  group: string,
  views: readonly SandboxView[],
): Promise<number> {
  const leaving = new AbortController();
  const release = catchSignals(() => leaving.abort());
  try {
    const ended = await allEnded(context, client, views, leaving.signal);
    await showAttempts(context, client, ended, { signal: leaving.signal });
    return ended.some(({ state }) => state === 'completed') ? 0 : 1;
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    const names = views.map(({ name }) => name).join(' ');
    context.out.note(`they run on; see: carrel compare ${group}; end them: carrel rm --force ${names}`);
    return interruptedExit;
  } finally {
    release();
  }
}

function allEnded({ out }: Context, client: Client, views: readonly SandboxView[], signal: AbortSignal) {
  const waiting = views.map(({ name }) => client.call('GET /v1/sandboxes/{name}/wait', { path: { name }, signal }));
  return during(out, `waiting for ${counted(views.length, 'attempt')} to end`, Promise.all(waiting));
}
