import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { askHidden } from '../../../client/stream/hidden-input.ts';
import { formatSize } from '../../../model/size.ts';
import type { SecretView } from '../api/secret.ts';
import { checkSecretName, checkSecretValue } from '../model.ts';
import { secretFromFile, secretFromStdin } from './secret.ts';

type Options = { readonly file?: string };

export async function secretSet(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const name = checkSecretName(args[0]!);
  const value = await readValue(context, name, options.file);
  checkSecretValue(name, value);
  const body = { name, valueBase64: value.toString('base64') };
  await printAnswer(context, connect(context).call('POST /v1/secrets', { body }), (view) => plain(view.name));
}

async function readValue({ out }: Context, name: string, file: string | undefined): Promise<Buffer> {
  if (file !== undefined) return secretFromFile(file);
  return process.stdin.isTTY ? askHidden(`Value of ${name}, not shown: `, out) : secretFromStdin(process.stdin);
}

export async function secretLs(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/secrets');
  await printAnswer(context, answer, secretListing, { empty: 'no secrets; keep one with: carrel secret set NAME' });
}

export function secretListing(secrets: readonly SecretView[], now?: number): string[] {
  const rows = secrets.map(({ name, sizeBytes, updatedAt }) => [
    plain(name),
    formatSize(sizeBytes),
    `${age(updatedAt, now)} ago`,
  ]);
  return table([['NAME', 'SIZE', 'CHANGED'], ...rows]);
}

export async function secretRm(context: Context, { args }: Invocation): Promise<void> {
  const path = { name: checkSecretName(args[0]!) };
  await printAnswer(context, connect(context).call('DELETE /v1/secrets/{name}', { path }), (view) => plain(view.name));
}
