import { readFileSync } from 'node:fs';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { programFile } from '../../../lib/file/package.ts';
import { Fault } from '../../../model/fault.ts';
import { isObject } from '../../../model/object.ts';

export async function hubTools(context: Context): Promise<void> {
  const tools = await connect(context).call('GET /v1/hub/tools');
  if (context.json) return context.out.document(tools);
  const rows = tools.map(({ name, group, changes, description }) => [name, group, changes ? 'yes' : 'no', description]);
  context.out.print(...table([['TOOL', 'GROUP', 'CHANGES', 'DESCRIPTION'], ...rows]));
}

export async function hubCall(context: Context, { args }: Invocation): Promise<void> {
  const body = { tool: args[0]!, input: parsed(args[1] ?? '{}') };
  context.out.document(await connect(context).call('POST /v1/hub/call', { body }));
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Text that is not JSON is refused below.
  }
  throw new Fault('invalid', 'JSON is not an object', { hint: 'carrel hub tools --json shows what each tool takes.' });
}

const start = 'CODEBUDDY_URL=… PROJECT_ID=… CODEBUDDY_TOKEN_FILE=… node carrel-spoke.mjs --connect [FOLDER]';

/** Prints the program of the spoke, which is a single file of the build. */
export async function hubSpoke({ json, out }: Context): Promise<void> {
  const program = readFileSync(programFile('carrel-spoke'), 'utf8');
  if (json) return out.document({ program });
  if (out.stdout.isTTY) out.say('Redirect it into a file: carrel hub spoke > carrel-spoke.mjs');
  else out.stdout.write(program);
  out.note(`Start it at the project: ${start}`);
}
