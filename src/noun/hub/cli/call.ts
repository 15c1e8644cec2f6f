import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { Fault } from '../../../model/fault.ts';
import { isObject } from '../../../model/object.ts';

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
