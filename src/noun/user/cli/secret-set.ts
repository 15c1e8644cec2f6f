import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { askHidden } from '../../../client/stream/hidden-input.ts';
import { checkSecretName, checkSecretValue } from '../model.ts';
import { secretFromFile, secretFromStdin } from './secret.ts';

type Options = { readonly file?: string };

export async function secretSet(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const name = checkSecretName(args[0]!);
  const value = await readValue(context, name, options.file);
  checkSecretValue(name, value);
  const body = { name, valueBase64: value.toString('base64') };
  const view = await connect(context).call('POST /v1/secrets', { body });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}

async function readValue({ out }: Context, name: string, file: string | undefined): Promise<Buffer> {
  if (file !== undefined) return secretFromFile(file);
  return process.stdin.isTTY ? askHidden(`Value of ${name}, not shown: `, out) : secretFromStdin(process.stdin);
}
