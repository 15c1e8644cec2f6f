import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { table } from '../output/table.ts';
import { plain } from '../output/text.ts';

export default async function projectShow(context: Context, { args }: Invocation): Promise<void> {
  const view = await connect(context).call('GET /v1/projects/{name}', { path: { name: args[0]! } });
  if (context.json) return context.out.document(view);
  context.out.print(
    ...table(Object.entries(view).map(([key, value]) => [key, plain([value ?? '-'].flat().join(', '))])),
  );
}
