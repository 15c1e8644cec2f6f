import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';

type Options = { readonly plugins?: string };

export async function volumeInit(context: Context, { options }: Invocation<Options>): Promise<void> {
  const body = options.plugins === undefined ? {} : { plugins: absolute(options.plugins, '--plugins') };
  const volumes = await connect(context).call('POST /v1/volumes', { body });
  if (context.json) return context.out.document(volumes);
  context.out.print(...volumes.map(({ name }) => plain(name)));
}
