import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { requireFleetFile } from '../fleet/file.ts';
import { Fleet } from '../fleet/fleet.ts';

/** The output needs no escaping for a terminal: all foreign text in it is quoted. */
export default async function compose(context: Context, { options }: Invocation<{ file?: string }>): Promise<void> {
  const composed = await new Fleet(connect(context), requireFleetFile(options.file)).compose();
  if (context.json) context.out.document(composed);
  else context.out.print(composed.text.trimEnd());
}
