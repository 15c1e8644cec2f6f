/**
 * `carrel demo`, a tour: agents work on a sample project, each in its own sandbox, and their work is reviewed and merged.
 * The agents follow scripts, so it needs no key and no network. All work on files, git and sandboxes is real; the project
 * is in a new folder, and stays there. The exit code is 1 if the tests of the result fail.
 */

import type { Context, Invocation } from '../../../../client/cli.ts';
import type { Client } from '../../../../client/client.ts';
import { connect } from '../../../../client/connect/connect.ts';
import type { Output } from '../../../../client/output/output.ts';
import { commandLine, plain } from '../../../../client/output/text.ts';
import { Fault } from '../../../../model/fault.ts';
import type { SwarmView } from '../../../swarm/api.ts';
import { readAlong } from '../../../swarm/cli/conclude.ts';
import { DemoProject, newFolder } from './demo-project.ts';
import { demoTasks } from './sample.ts';

export async function demo(context: Context, { args }: Invocation): Promise<number> {
  const project = await DemoProject.make(newFolder(args[0]));
  const narrator = new Narrator(context.out);
  const stories = demoTasks.reduce((sum, task) => sum + task.stories.length, 0);
  narrator.chapter(`A sample project with ${stories} stories in ${demoTasks.length} task files: ${project.folder}`);

  const client = connect(context);
  narrator.chapter(
    'Three agents work on them, each in a sandbox of its own.',
    `carrel swarm run --all --agent ${agent}`,
  );
  const { containers } = await work(context, client, project.folder);

  narrator.chapter('Their work came back as commits, one for each story.', 'git log');
  const refs = containers.map(({ commits }) => commits[0]!.ref);
  for (const ref of refs) narrator.result(await project.commitsOn(ref));

  const tip = containers[0]!.commits[0]!.commit.slice(0, shortCommit);
  narrator.chapter(
    'The files of the project are unchanged until you merge. One of the commits:',
    `git show ${tip} -- src`,
  );
  narrator.result(await project.show(tip));

  narrator.chapter('The three branches are merged.', commandLine(['git', 'merge', ...refs]));
  narrator.result(await project.merge(refs));

  narrator.chapter('The tests of the result run in a sandbox, too.', 'carrel run --rm . -- node --test');
  const tests = await testInSandbox(client, project.folder);
  narrator.result(tests.summary);

  if (context.json) context.out.document({ project: project.folder, branches: refs, tests: tests.outcome });
  else narrator.end(project.folder);
  return tests.outcome === 'failed' ? 1 : 0;
}

const agent = 'demo';
/** How many characters of a commit id are shown. */
const shortCommit = 7;

async function work(context: Context, client: Client, project: string): Promise<SwarmView> {
  const { begun } = await client.call('POST /v1/swarm/run', { body: { project, agent } });
  const ended = await readAlong(context, client, project, begun);
  const [bad] = ended.containers.filter(({ status }) => status !== 'completed');
  if (bad === undefined) return ended;
  throw new Fault(
    'internal',
    `${bad.containerName} ${bad.status}: ${bad.errors[0] ?? bad.reason ?? 'for an unknown reason'}`,
    {
      hint: `carrel swarm logs ${bad.containerName} shows its output, carrel doctor what this machine offers`,
    },
  );
}

/** Prints what the demo does next, and the command for it. */
class Narrator {
  readonly #out: Output;

  constructor(out: Output) {
    this.#out = out;
  }

  chapter(words: string, command?: string): void {
    if (this.#out.json) return;
    this.#out.print('', this.#out.paint('bold', plain(words)));
    if (command !== undefined) this.#out.print(this.#out.paint('cyan', `$ ${plain(command)}`));
  }

  result(text: string): void {
    if (!this.#out.json) this.#out.print(...text.trimEnd().split('\n').map(plain));
  }

  end(folder: string): void {
    this.chapter('Sandboxes, commits and tests were real; the agent was scripted.');
    this.#out.print(
      'An agent on your own project:',
      '  carrel claude .',
      'The result of the demo:',
      `  cd ${plain(folder)}`,
      '  git log --graph --oneline',
      '  carrel swarm status',
      'Remove it, in that folder:',
      `  carrel swarm clean; rm -r ${plain(folder)}`,
    );
  }
}

interface Tested {
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly summary: string;
}

/** Runs the tests of the sample project in a sandbox, because agents wrote its code. */
async function testInSandbox(client: Client, project: string): Promise<Tested> {
  // A plain sandbox has only the programs below the host's /usr.
  if (!process.execPath.startsWith('/usr/')) return { outcome: 'skipped', summary: 'skipped: Node is not below /usr' };
  const command = [process.execPath, '--test', '--test-reporter=spec'];
  const { name } = await client.call('POST /v1/sandboxes', { body: { project, mode: 'overlay', command } });
  const { exitCode } = await client.call('GET /v1/sandboxes/{name}/wait', { path: { name } });
  const output: Buffer[] = [];
  for await (const frame of client.frames('GET /v1/sandboxes/{name}/logs', { path: { name } }))
    if (frame.type === 'stdout') output.push(frame.payload);
  await client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { force: true } });
  const lines = Buffer.concat(output).toString('utf8').split('\n');
  return {
    outcome: exitCode === 0 ? 'passed' : 'failed',
    summary: lines.filter((line) => /^[✔✖]/.test(line)).join('\n'),
  };
}
