import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { absolute } from '../../../client/paths.ts';
import { withTrust } from '../../../client/project-file/trust.ts';
import { Fault } from '../../../model/fault.ts';
import { type ChoiceOptions, swarmChoice } from './choice.ts';
import { concludeSwarm, projectOf } from './conclude.ts';
import { requireGh } from './pull-request.ts';

interface Options extends ChoiceOptions {
  readonly project?: string;
  readonly file?: string;
  readonly files?: string;
  readonly all?: boolean;
  readonly max?: string;
  readonly pr?: boolean;
}

export async function swarmRun(context: Context, { options }: Invocation<Options>): Promise<number> {
  const { max } = options;
  const files = filesOf(options);
  const project = projectOf(options);
  if (options.pr) await requireGh(options.detach ?? false);
  const client = connect(context);
  const body = {
    project,
    ...(files === null ? {} : { files }),
    ...(max === undefined ? {} : { max: parseCount(max, '--max', 1) }),
    ...(await swarmChoice(context, client, project, options)),
  };
  const begun = await withTrust(context, client, () => client.call('POST /v1/swarm/run', { body }));
  return concludeSwarm(context, client, begun, options, body.sandbox);
}

/** The task files to run; null: all. */
function filesOf({ file, files, all }: Options): string[] | null {
  const ways = [file, files, all].filter((way) => way !== undefined);
  if (ways.length !== 1) {
    throw new Fault(
      'invalid',
      ways.length === 0 ? 'no task file is named' : 'task files are named in more than one way',
      {
        hint: 'Use one of --file F, --files A,B and --all; see: carrel task ls',
      },
    );
  }
  if (all) return null;
  return (file === undefined ? files!.split(',') : [file]).map((path) => absolute(path, '--file'));
}
