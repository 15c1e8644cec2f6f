/** The real claude and a real ACP agent in sandboxes on every engine, with a model that says what the test scripts. */
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentSpec, adapterCommand } from '../../src/model/agent.ts';
import { encodeMessage } from '../../src/model/message-line.ts';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { branchName, request, taskFile, taskFilePath } from '../harness/adapter.ts';
import { crashGrounds } from '../harness/crash-ground.ts';
import type { Installation } from '../harness/installation.ts';
import { Repository } from '../harness/repository.ts';

const modules = '/workspace/tools/node_modules';
const cli = '@anthropic-ai/claude-code/cli.js';
const key = { variable: 'ANTHROPIC_API_KEY', secret: 'KEY' };
const agents = {
  claude: { kind: 'claude', command: [process.execPath, `${modules}/${cli}`], key },
  acp: {
    kind: 'acp',
    command: [process.execPath, `${modules}/@agentclientprotocol/claude-agent-acp/dist/index.js`],
    key,
  },
} as const satisfies Record<string, AgentSpec>;

/** What of the packages runs, among the files of a project that git ignores. */
const files = [
  cli,
  '@anthropic-ai/claude-code/package.json',
  '@anthropic-ai/claude-agent-sdk/package.json',
  '@anthropic-ai/claude-agent-sdk/sdk.mjs',
  '@agentclientprotocol/claude-agent-acp',
  'zod',
];

const authority = new TestAuthority('127.0.0.1');
const value = 'sk-ant-real-0123456789';

function storyIn({ messages }: Question): string {
  return /US-\d{3}/.exec(JSON.stringify(messages))?.[0] ?? '';
}

/** In each story it writes a file and says so. */
function writes(question: Question, said: number): Turn {
  if (said > 0) return [{ text: `I wrote ${storyIn(question)}.` }];
  const command = `echo done > ${storyIn(question)}.txt`;
  return [{ text: 'On it.' }, { tool: 'Bash', input: { command, description: 'write' } }];
}

describe.each(crashGrounds)('on %s', (engine, ground) => {
  let carrel: Installation;
  let model: ScriptedModel;
  let project: Repository;

  beforeAll(async () => {
    await ground.open();
    carrel = ground.installation();
    const wants = { header: 'x-api-key', value };
    model = await ScriptedModel.open(writes, { tls: authority.tls('127.0.0.1'), wants });
    carrel.write('home/ca.pem', authority.certificate);
    appendFileSync(join(carrel.home, 'config.yaml'), `authorities: [${join(carrel.home, 'ca.pem')}]\n`);
    await carrel.run(['secret', 'set', 'KEY'], { input: value });
    const host = `127.0.0.1:${model.port}`;
    await carrel.ok('credential', 'add', 'model', '--secret', 'KEY', '--preset', 'anthropic', '--host', host);
    project = new Repository(carrel.folder('projects'), { '.gitignore': 'tools\n.carrel\n' });
    for (const name of files)
      cpSync(resolve('node_modules', name), join(project.path, 'tools/node_modules', name), { recursive: true });
    const path = join(project.path, taskFilePath);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, taskFile([{ does: 'Write one.' }]));
    if (engine === 'docker') project.give(12_345);
  }, 120_000);
  afterAll(async () => {
    await carrel.dispose();
    await model.dispose();
    await ground.close();
  }, 120_000);

  it.each(Object.keys(agents) as (keyof typeof agents)[])('%s does a story, and never has the key', async (name) => {
    const env = ['DISABLE_AUTOUPDATER=1', 'DISABLE_TELEMETRY=1', `CLAUDE_CODE_EXECUTABLE=${modules}/${cli}`];
    const options = ['--engine', engine, '--credential', 'model', ...env.flatMap((one) => ['--env', one])];
    const argv = ['run', '--name', name, ...options, project.path, '--', ...adapterCommand({ agent: agents[name] })];
    const { stdout, stderr, exitCode } = await carrel.run(argv, { input: encodeMessage(request), timeoutMs: 55_000 });
    expect([stderr, stdout.trim().split('\n').at(-1)]).toEqual(['', expect.stringContaining('"status":"completed"')]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('I wrote US-001.');
    expect(await carrel.ok('apply', name)).toContain(`refs/carrel/${name}/heads/${branchName}`);
    expect(stdout + (await carrel.ok('logs', name))).not.toContain(value);
  });
});
