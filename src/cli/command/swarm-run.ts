import { Fault } from '../../model/fault.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { parseCount } from '../option.ts';
import { absolute } from '../paths.ts';
import { openPullRequests, requireGh } from '../pull-request.ts';
import { type SandboxOptions, sandboxRequest } from '../request.ts';
import { concludeSwarm, projectOf } from '../swarm.ts';

interface Options extends SandboxOptions {
  readonly project?: string;
  readonly file?: string;
  readonly files?: string;
  readonly all?: boolean;
  readonly max?: string;
  readonly agent?: string;
  readonly pr?: boolean;
}

export default async function swarmRun(context: Context, { options }: Invocation<Options>): Promise<number> {
  const { max, agent } = options;
  const files = filesOf(options);
  const body = {
    project: projectOf(options),
    ...(files === null ? {} : { files }),
    ...(max === undefined ? {} : { max: parseCount(max, '--max') }),
    ...(agent === undefined ? {} : { agent }),
    sandbox: surroundings(options),
  };
  if (options.pr) await requireGh(options.detach ?? false);
  const client = connect(context);
  const begun = await client.call('runSwarm', { body });
  const code = await concludeSwarm(context, client, begun, options.detach ?? false);
  return options.pr ? (await openPullRequests(context, client, begun.project)) || code : code;
}

/** What `run` would ask for, without what a swarm sees to itself. */
function surroundings(options: SandboxOptions) {
  const { mode: _, command: __, ...asked } = sandboxRequest(options, undefined, []);
  return asked;
}

/** Null: all. */
function filesOf({ file, files, all }: Options): string[] | null {
  const ways = [file, files, all].filter((way) => way !== undefined);
  if (ways.length !== 1) {
    throw new Fault(
      'invalid',
      ways.length === 0 ? 'no task file is named' : 'task files are named in more than one way',
      {
        hint: 'Use one of --file F, --files A,B and --all; carrel task list shows those there are.',
      },
    );
  }
  if (all) return null;
  return (file === undefined ? files!.split(',') : [file]).map((path) => absolute(path, '--file'));
}
