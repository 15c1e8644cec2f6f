import { Fault } from '../../model/fault.ts';
import { authorIn } from '../author.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { projectImage } from '../image.ts';
import { parseCount } from '../option.ts';
import { absolute } from '../paths.ts';
import { requireGh } from '../pull-request.ts';
import { type SandboxOptions, sandboxRequest } from '../request.ts';
import { concludeSwarm, projectOf } from '../swarm.ts';
import { withTrust } from '../trust.ts';

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
  const project = projectOf(options);
  const sandbox = surroundings(options);
  if (options.pr) await requireGh(options.detach ?? false);
  const client = connect(context);
  const image = usesImages(options) ? await projectImage(client, project, context.out) : null;
  const author = await authorIn(project);
  const body = {
    project,
    ...(author === null ? {} : { author: cleaned(author) }),
    ...(files === null ? {} : { files }),
    ...(max === undefined ? {} : { max: parseCount(max, '--max', 1) }),
    ...(agent === undefined ? {} : { agent }),
    sandbox: { ...sandbox, ...(image === null ? {} : { image }) },
  };
  const begun = await withTrust(context, client, () => client.call('runSwarm', { body }));
  return concludeSwarm(context, client, begun, options);
}

function usesImages({ engine, image, rootfs }: SandboxOptions): boolean {
  return engine === 'docker' && image === undefined && rootfs === undefined;
}

/** As git itself has names in commits. */
function cleaned({ name, email }: { readonly name: string; readonly email: string }) {
  const clean = (text: string) => text.replace(/[\x00-\x1f\x7f<>]/g, '').slice(0, 200) || 'unknown';
  return { name: clean(name), email: clean(email) };
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
