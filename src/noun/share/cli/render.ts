import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plainLines } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { checkShareName, type RenderForm, renderForms } from '../model.ts';

type Options = { readonly for?: RenderForm };

export async function shareRender(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const path = { name: checkShareName(args[0]!) };
  if (options.for === undefined)
    throw new Fault('invalid', 'share render needs --for', { hint: `There are: ${renderForms.join(', ')}` });
  const view = await connect(context).call('GET /v1/shares/{name}/render', { path, query: { for: options.for } });
  if (context.json) return context.out.document(view);
  context.out.print(plainLines(view.text));
}
