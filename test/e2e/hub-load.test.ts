/** Many projects, clients and calls at the same time: every answer is right, and the calls leave nothing behind. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callTool as call, connectHub } from '../harness/hub-client.ts';
import { Installation } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';

const projects = Array.from({ length: 20 }, (_, n) => `p${n}`);
/** The projects that language servers are asked about. */
const withCode = projects.slice(0, 4);
const clients = 10;
/** Turns of each client; a turn asks about one project. */
const leastTurns = 8;
const forMs = isRepeated ? 60_000 : 0;
let carrel: Installation;
let url: string;

beforeAll(async () => {
  carrel = new Installation();
  await carrel.ok('up', '-d', '--port', '0');
  for (const id of projects) {
    const folder = carrel.folder(id);
    writeFileSync(join(folder, 'name'), id);
    writeFileSync(join(folder, 'name.ts'), `export const ${id} = 1;\n`);
    await carrel.ok('project', 'add', folder);
  }
  url = (await carrel.json<{ mcp: string }>('status')).mcp;
});
afterAll(() => carrel.dispose());

/** Connects by one of all transports in both generations of the protocol, each with a token of its own. */
async function connect(number: number): Promise<Client> {
  const modern = number % 2 === 0;
  if (number % 3 === 2) return connectHub(carrel, { modern });
  const token = (await carrel.ok('hub', 'token', '--project', '*')).trim();
  return connectHub(carrel, { modern, port: { kind: number % 3 === 0 ? 'HTTP' : 'WebSocket', url, token } });
}

type Found = readonly { readonly text: string }[];

/** The complete answers about a project that do not name it. */
async function wrongIn(client: Client, project: string): Promise<string[]> {
  const read = await call(client, 'read_file', { project, path: 'name' });
  const ran = await call(client, 'run_command', { project, command: ['cat', 'name'] });
  const found = await call(client, 'search_text', { project, pattern: '^p' });
  const named = [read.content, ran.stdout, (found.matches as Found)[0]?.text];
  return [read, ran, found].filter((_, at) => named[at] !== project).map((one) => `${project}: ${JSON.stringify(one)}`);
}

async function definitionOf(client: Client, project: string): Promise<string | undefined> {
  const { locations } = await call(client, 'find_definition', { project, path: 'name.ts', symbol: project });
  return (locations as Found)[0]?.text;
}

/**
 * Asks about the projects in an order of its own, at least so many turns and until the time is over. Returns wrong
 * answers.
 */
async function work(client: Client, number: number, least: number, untilMs = 0) {
  const wrong: string[] = [];
  let turns = 0;
  for (let at = number; turns < least || performance.now() < untilMs; at += 7) {
    const id = projects[at % projects.length]!;
    wrong.push(...(await wrongIn(client, id)));
    const defined = withCode.includes(id) ? await definitionOf(client, id) : `export const ${id} = 1;`;
    if (defined !== `export const ${id} = 1;`) wrong.push(`${id}: ${defined}`);
    turns += 1;
  }
  return { turns, wrong };
}

/** What the daemon and the spokes use. */
async function usage(client: Client) {
  const pid = carrel.daemonPid;
  const descriptors = readdirSync(`/proc/${pid}/fd`).map((fd) => target(`/proc/${pid}/fd/${fd}`));
  // Each spoke counts its processes; the shell is the only process of the call.
  const command = ['sh', '-c', 'set -- /proc/[0-9]*; echo $#'];
  const { results } = await call(client, 'run_command', { projects, command });
  return {
    memoryMb: Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)?.[1]) / 1024,
    sockets: descriptors.filter((name) => name.startsWith('socket:')).length,
    descriptors: descriptors.length,
    children: readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').length,
    processes: (results as { stdout: string }[]).map(({ stdout }) => Number(stdout)),
  };
}

function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

it('20 projects and 10 clients: every answer is right, and no process, socket or memory leaks', async () => {
  const all = await Promise.all(Array.from({ length: clients }, (_, number) => connect(number)));
  await Promise.all(all.map((client, number) => work(client, number, 3)));
  await Promise.all(projects.map((id) => wrongIn(all[0]!, id)));
  for (const id of withCode) await definitionOf(all[0]!, id);
  const before = await usage(all[0]!);
  const untilMs = performance.now() + forMs;
  const done = await Promise.all(all.map((client, number) => work(client, number, leastTurns, untilMs)));
  const after = await usage(all[0]!);
  const turns = done.reduce((sum, one) => sum + one.turns, 0);
  if (isRepeated) console.log(JSON.stringify({ turns, before, after }));
  expect(done.flatMap(({ wrong }) => wrong)).toEqual([]);
  await expect.poll(async () => (await usage(all[0]!)).processes).toEqual(before.processes);
  expect(after.children).toBe(before.children);
  expect(after.sockets - before.sockets).toBeLessThanOrEqual(clients);
  expect(after.descriptors - before.descriptors).toBeLessThanOrEqual(clients);
  expect(after.memoryMb - before.memoryMb).toBeLessThan(150);
  await Promise.all(all.map((client) => client.close()));
});

it.each(isRepeated ? [true, false] : [true])(
  'the hub answers 1,000 read_file at the same time over HTTP, newest revision: %s',
  async (modern) => {
    const token = (await carrel.ok('hub', 'token', '--project', 'p0')).trim();
    const client = await connectHub(carrel, { modern, port: { kind: 'HTTP', url, token } });
    const read = () =>
      call(client, 'read_file', { project: 'p0', path: 'name' }).then(({ content }) => content, String);
    const answers = await Promise.all(Array.from({ length: 1000 }, read));
    expect(answers.filter((content) => content !== 'p0')).toEqual([]);
    await client.close();
  },
);
