import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { ContainerStatus } from '../model/swarm.ts';
import { projectOf } from './conclude.ts';

interface Options {
  readonly project?: string;
  readonly status?: ContainerStatus;
  readonly prUrl?: string;
  readonly storyProgress?: string;
  readonly acpPid?: string;
}

export async function swarmUpdate(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { status, prUrl, storyProgress, acpPid } = options;
  const change = {
    ...(status === undefined ? {} : { status }),
    ...(prUrl === undefined ? {} : { prUrl }),
    ...(storyProgress === undefined ? {} : { storyProgress: parseProgress(storyProgress) }),
    ...(acpPid === undefined ? {} : { acpPid: parsePid(acpPid) }),
  };
  if (Object.keys(change).length === 0) {
    throw new Fault('invalid', 'no change is named', {
      hint: 'Give one of --status, --pr-url, --story-progress and --acp-pid.',
    });
  }
  const body = { project: projectOf(options), containerName: args[0]!, ...change };
  context.out.document(await connect(context).call('POST /v1/swarm/update', { body }));
}

/** Parses the JSON only; the daemon checks the fields. */
function parseProgress(text: string): never {
  try {
    return JSON.parse(text) as never;
  } catch (error) {
    throw new Fault('invalid', `--story-progress: ${printable(text)} is not JSON`, {
      cause: error,
      hint: 'Write {"total":3,"completed":1,"failed":0,"inProgress":1,"pending":1}.',
    });
  }
}

function parsePid(text: string): number | null {
  if (text === 'null') return null;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new Fault('invalid', `--acp-pid: ${printable(text)} is not the id of a process`, {
    hint: 'A number, or null.',
  });
}
