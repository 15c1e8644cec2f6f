/** `carrel agent install`: npm runs in a sandbox that can write the volume with the programs of agents; all others only read it. */
import type { Client } from '../../api/client.ts';
import { installFolder, installVolume } from '../../model/agent.ts';
import { agents, terminalAgents } from '../../model/agent-table.ts';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';
import { execInside } from '../stream/exec.ts';

export default async function install(context: Context, { args }: Invocation): Promise<void> {
  const [agent, wanted = 'latest'] = args as [string, string?];
  if (!Object.hasOwn(terminalAgents, agent)) throw unknown(agent);
  const client = connect(context);
  const version = await during(context.out, `installing ${agent}`, installed(client, agent, wanted));
  if (context.json) context.out.document({ agent, version });
  else context.out.print(`${agent} ${plain(version)}`);
}

/** The version that sandboxes use from now on; those that run keep theirs. */
async function installed(client: Client, agent: string, wanted: string): Promise<string> {
  const name = agents[agent]!.package!;
  const keys = (await client.call('GET /v1/credentials')).filter(({ preset }) => preset === 'npm').slice(0, 1);
  await client.call('POST /v1/volumes', { body: { names: [installVolume] } });
  const { name: sandbox } = await client.call('POST /v1/sandboxes', {
    body: {
      network: ['npm'],
      credentials: keys.map((one) => one.name),
      volumes: [{ volume: installVolume, target: installFolder, readonly: false }],
    },
  });
  const run = (argv: string[]) => output(client, sandbox, argv);
  try {
    const version = (await run(['npm', 'view', '--json', `${name}@${wanted}`, 'version'])).replaceAll(/["\s]/g, '');
    if (!/^\d[\w.+-]{0,63}$/.test(version)) throw new Fault('not_found', `there is no ${name}@${printable(wanted)}`);
    const folder = `${installFolder}/${agent}`;
    const prefix = `${folder}/${version}`;
    await run(['mkdir', '-p', prefix]);
    await run(['npm', 'install', '--global', '--no-audit', '--no-fund', '--prefix', prefix, `${name}@${version}`]);
    await run(['ln', '-sfn', version, `${folder}/current`]);
    return version;
  } finally {
    await client.call('DELETE /v1/sandboxes/{name}', { path: { name: sandbox }, query: { force: true } });
  }
}

async function output(client: Client, name: string, argv: string[]): Promise<string> {
  const said: Buffer[] = [];
  const errors: Buffer[] = [];
  const { exitCode } = await execInside({ client, name }, argv, {
    stdout: (chunk) => void said.push(chunk),
    stderr: (chunk) => void errors.push(chunk),
  });
  if (exitCode === 0) return Buffer.concat(said).toString();
  const last = Buffer.concat(errors).toString().trim().split('\n').slice(-5).join('\n');
  throw new Fault('unavailable', `${argv.slice(0, 2).join(' ')} failed: ${last}`, {
    hint: 'npm runs in a sandbox with the network preset npm; see: carrel net presets',
  });
}

function unknown(agent: string): Fault {
  return new Fault('not_found', `there is no agent ${printable(agent)} to install`, {
    hint: `There are ${Object.keys(terminalAgents).join(', ')}.`,
  });
}
