/**
 * `carrel agent install`: npm runs in a sandbox that can write the volume with the programs of agents; all other
 * sandboxes only read it.
 */
import { existsSync } from 'node:fs';
import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { catchSignals } from '../../../client/signals.ts';
import { FirstBytes, LastBytes } from '../../../lib/process/collect.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { execInside } from '../../sandbox/cli/stream/exec.ts';
import { installFolder, installVolume } from '../model/agent.ts';
import { agents, terminalAgents } from '../model/table.ts';
import { unknownAgent } from './unknown.ts';

const maxOutputBytes = 1024 ** 2;

export async function install(context: Context, { args }: Invocation): Promise<void> {
  const [agent, wanted = 'latest'] = args as [string, string?];
  if (!Object.hasOwn(terminalAgents, agent)) throw unknownAgent(agent);
  const client = connect(context);
  const version = await during(context.out, `installing ${agent}`, installed(client, agent, wanted));
  if (context.json) context.out.document({ agent, version });
  else context.out.print(`${agent} ${plain(version)}`);
}

/** Returns the installed version. Sandboxes use it from now on; running programs keep their version. */
async function installed(client: Client, agent: string, wanted: string): Promise<string> {
  const name = agents[agent]!.package!;
  const keys = (await client.call('GET /v1/credentials')).filter(({ preset }) => preset === 'npm').slice(0, 1);
  await client.call('POST /v1/volumes', { body: { names: [installVolume] } });
  const { name: sandbox } = await client.call('POST /v1/sandboxes', {
    body: {
      network: ['npm'],
      credentials: keys.map((one) => one.name),
      env: trustEnv(),
      volumes: [{ volume: installVolume, target: installFolder, readonly: false }],
    },
  });
  const { ended, release } = interruption();
  const run = (argv: string[]) => Promise.race([output(client, sandbox, argv), ended]);
  try {
    const version = (await run(['npm', 'view', ...impatient, '--json', `${name}@${wanted}`, 'version'])).replaceAll(
      /["\s]/g,
      '',
    );
    if (!/^\d[\w.+-]{0,63}$/.test(version)) throw noVersion(agent, name, wanted);
    const folder = `${installFolder}/${agent}`;
    const prefix = `${folder}/${version}`;
    await run(['mkdir', '-p', prefix]);
    await run(['npm', 'install', '--global', '--no-audit', '--no-fund', '--prefix', prefix, `${name}@${version}`]);
    await run(['ln', '-sfn', version, `${folder}/current`]);
    return version;
  } finally {
    release();
    await client.call('DELETE /v1/sandboxes/{name}', { path: { name: sandbox }, query: { force: true } });
  }
}

/** npm retries little, so that an unreachable registry or an untrusted certificate is reported soon. */
const impatient = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=2000'];

/** Where distributions keep the machine's certificate authorities: Node.js trusts only its own list by default. */
const bundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

function trustEnv(): Record<string, string> {
  const bundle = bundles.find((path) => existsSync(path));
  return bundle === undefined ? {} : { NODE_EXTRA_CA_CERTS: bundle };
}

/** Ctrl-C ends the work, and its sandbox is removed before the command ends. */
function interruption() {
  let interrupt = (_: Fault) => {};
  const ended = new Promise<never>((_, reject) => {
    interrupt = reject;
  });
  ended.catch(() => {});
  const release = catchSignals(() => interrupt(new Fault('cancelled', 'interrupted; nothing was installed')));
  return { ended, release };
}

async function output(client: Client, name: string, argv: string[]): Promise<string> {
  const [output, errors] = [new FirstBytes(maxOutputBytes), new LastBytes(maxOutputBytes)];
  const { exitCode } = await execInside({ client, name }, argv, { stdout: output.push, stderr: errors.push });
  if (exitCode === 0) return output.bytes.toString();
  const text = errors.bytes.toString().trim();
  // npm reports that the requested version does not exist.
  if (argv[1] === 'view' && /^npm (error|ERR!) code E404$/m.test(text)) return '';
  const last = text.split('\n').slice(-5).join('\n');
  throw new Fault('unavailable', `${argv.slice(0, 2).join(' ')} failed: ${last}`, {
    hint: 'npm runs in a sandbox with the network preset npm; see: carrel net presets',
  });
}

function noVersion(agent: string, name: string, wanted: string): Fault {
  return new Fault('not_found', `npm has no version ${printable(wanted)} of ${name}`, {
    hint: `The newest one: carrel agent install ${agent}`,
  });
}
