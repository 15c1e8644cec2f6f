import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { checkUserName } from '../../../model/user.ts';

export async function userToken(context: Context, { args }: Invocation): Promise<void> {
  const body = args[0] === undefined ? {} : { name: checkUserName(args[0]) };
  const answer = await connect(context).call('POST /v1/users/token', { body });
  if (context.json) return context.out.document(answer);
  context.out.print(plain(answer.token));
  context.out.say(
    `This is the new token of ${plain(answer.user.name)} and is shown only once; the old one is no longer valid.`,
  );
}
