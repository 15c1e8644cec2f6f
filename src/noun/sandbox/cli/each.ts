/** Does one act on several sandboxes; the failure of one does not affect the others. */

import type { Context } from '../../../client/cli.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { SandboxView } from '../api.ts';

const atOnce = 16;

/** Prints the name of each success; resolves to the exit code of the first failure. */
export async function forEach(
  context: Context,
  verb: string,
  names: readonly string[],
  act: (name: string) => Promise<SandboxView>,
): Promise<number> {
  const unique = [...new Set(names)];
  const results = await during(
    context.out,
    `${verb} ${unique.length === 1 ? unique[0] : unique.length}`,
    inBatches(unique, async (name) => act(checkSandboxName(name))),
  );
  const views: SandboxView[] = [];
  let code = 0;
  for (const [index, result] of results.entries()) {
    if (result.status === 'fulfilled') views.push(result.value);
    else code ||= context.out.fail(asFault(result.reason));
    if (result.status === 'fulfilled' && !context.json) context.out.print(plain(unique[index]!));
  }
  if (context.json) context.out.document(views);
  return code;
}

export function requireNamesOrAll(command: string, names: readonly string[], all: boolean): void {
  if (all !== names.length > 0) return;
  throw new Fault('invalid', all ? 'either names or --all, not both' : 'no sandbox is named', {
    hint: `carrel ${command} NAME… or carrel ${command} --all`,
  });
}

export async function inBatches<T, R>(
  items: readonly T[],
  act: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    results.push(...(await Promise.allSettled(items.slice(start, start + atOnce).map(act))));
  }
  return results;
}
