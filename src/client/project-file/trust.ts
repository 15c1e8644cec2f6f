/** After a request was refused because a carrel.yaml is not trusted, asks at a terminal whether to trust it. */

import { Fault, isFault } from '../../model/fault.ts';
import type { AnswerOf } from '../../noun/routes.ts';
import type { Context } from '../cli.ts';
import type { Client } from '../client.ts';
import type { Output } from '../output/output.ts';
import { canAsk, confirm } from '../stream/confirm.ts';
import { type FleetFilePath, openFleetFile } from './file.ts';

/** The user trusts the content that was shown, so the file may belong to any account. */
export function openTrustFile(named: string): FleetFilePath {
  return openFleetFile(named, null)!;
}

/** The parser is loaded only here, because `run` has little time. */
export async function trustBody({ path, text, shown }: FleetFilePath) {
  const { readYaml } = await import('../../lib/text/yaml.ts');
  return { file: path, content: readYaml(text, shown).content };
}

/** Does the work. If it is refused for an untrusted file, asks whether to trust the file, then does it once more. */
export async function withTrust<T>({ out }: Context, client: Client, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const file = isFault(error, 'denied') ? (error.data?.trust as { file: string } | undefined)?.file : undefined;
    if (file === undefined || !canAsk(out)) throw error;
    await askTrust(out, client, openTrustFile(file));
    return work();
  }
}

/** The file is read once, so the user trusts exactly the text that was shown. */
export async function askTrust(out: Output, client: Client, file: FleetFilePath): Promise<void> {
  const body = await trustBody(file);
  printGrants(out, await client.call('POST /v1/trust', { body: { ...body, dryRun: true } }));
  if (!(await confirm('Trust it?'))) throw new Fault('cancelled', 'nothing was done');
  await client.call('POST /v1/trust', { body });
}

export function printGrants(out: Output, { file, added }: AnswerOf<'POST /v1/trust'>): void {
  out.say(`${file} gives sandboxes what was not trusted yet:`);
  for (const grant of added) out.say(`  + ${grant}`);
}
