import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';

export async function projectShow(context: Context, { args }: Invocation): Promise<void> {
  const view = await connect(context).call('GET /v1/projects/{name}', { path: { name: args[0]! } });
  if (context.json) return context.out.document(view);
  context.out.print(
    ...table(Object.entries(view).map(([key, value]) => [key, plain([value ?? '-'].flat().join(', '))])),
  );
}
