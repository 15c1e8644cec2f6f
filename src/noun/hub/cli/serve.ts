/** Passes stdin and stdout to the daemon, which speaks MCP. */

import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { sendInput } from '../../../client/stream/input.ts';
import { receive, writeAndDrain } from '../../../client/stream/receive.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { parseGroups, parseProjects } from './grant.ts';

interface Options {
  readonly project?: string;
  readonly tools?: string;
}

export async function hubServe(context: Context, { options }: Invocation<Options>): Promise<number> {
  const socket = await connect(context).upgrade('GET /v1/hub/connect', undefined, seenBy(options));
  if (process.stdin.isTTY)
    context.out.note('waiting for MCP messages on stdin; an MCP client usually starts this command');
  const release = sendInput(socket, process.stdin);
  try {
    const sinks = { stdout: (chunk: Buffer) => writeAndDrain(process.stdout, chunk), stderr: () => {} };
    return (await receive(socket, sinks)).exitCode;
  } catch (error) {
    if (!isFault(error, 'unavailable')) throw error;
    throw new Fault('unavailable', 'the daemon ended', { hint: 'The MCP client has to start carrel hub serve again.' });
  } finally {
    release();
    socket.destroy();
  }
}

/** The projects and groups of tools that the client may use. */
function seenBy({ project, tools }: Options): { readonly projects?: string; readonly groups?: string } {
  const projects = project === undefined ? '*' : parseProjects(project);
  return {
    ...(projects === '*' ? {} : { projects: projects.join(',') }),
    ...(tools === undefined ? {} : { groups: parseGroups(tools).join(',') }),
  };
}
