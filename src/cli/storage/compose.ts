import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { requireFleetFile } from '../fleet/file.ts';
import { Fleet } from '../fleet/fleet.ts';

/** What is printed has no terminal escapes: all text from outside is quoted in it. */
export default async function compose(context: Context, { options }: Invocation<{ file?: string }>): Promise<void> {
  const composed = await new Fleet(connect(context), requireFleetFile(options.file)).compose();
  if (context.json) context.out.document(composed);
  else context.out.print(composed.text.trimEnd());
}
