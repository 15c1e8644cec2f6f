import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { requireFleetFile } from '../../../client/project-file/file.ts';
import { Fleet } from './fleet.ts';

/** The output needs no escaping for a terminal: all foreign text in it is quoted. */
export async function compose(context: Context, { options }: Invocation<{ file?: string }>): Promise<void> {
  const composed = await new Fleet(connect(context), requireFleetFile(options.file)).compose();
  if (context.json) context.out.document(composed);
  else context.out.print(composed.text.trimEnd());
}
