// @takes 50 s
/** The real claude and a real ACP agent in the sandboxes of swarms, on each engine; the model is scripted. */
import { appendFileSync, cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { swarmTestbeds } from '../harness/crash-testbed.ts';
import type { Installation } from '../harness/installation.ts';
import { isRealRoot, isRepeated } from '../harness/machine.ts';
import { hasEnded, SwarmProject } from '../harness/swarm.ts';

const modules = '/workspace/tools/node_modules';
const cli = '@anthropic-ai/claude-code/cli.js';
const key = '{ variable: ANTHROPIC_API_KEY, secret: ANTHROPIC_API_KEY }';
const acp = '@agentclientprotocol/claude-agent-acp/dist/index.js';
/** Settings of an owner whose agents are not on the PATH. */
const config = [
  'agents:',
  `  claude: { kind: claude, command: [node, ${modules}/${cli}], key: ${key} }`,
  `  acp: { kind: acp, command: [node, ${modules}/${acp}], key: ${key} }`,
  '',
].join('\n');

/** The files of the packages that run, among the files of a project that git ignores. */
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

/** The model runs the command of each story's description in the shell, and then answers. */
function obeys({ messages }: Question, said: number): Turn {
  if (said > 0) return [{ text: 'I did it.' }];
  const command = /RUN (.*?) END/.exec(JSON.stringify(messages))?.[1] ?? 'false';
  return [{ text: 'On it.' }, { tool: 'Bash', input: { command, description: 'what the story says' } }];
}

function stories(name: string): string[] {
  return [1, 2].map((number) => `RUN echo US-00${number} >> ${name}.txt END`);
}

/** The rootless case needs no second run: `swarm.test.ts` tests it with another agent. */
const testbeds = swarmTestbeds.filter(([name]) => isRepeated || !isRealRoot || !name.includes('rootless'));

describe.each(testbeds)('on %s', (_, testbed) => {
  let carrel: Installation;
  let model: ScriptedModel;
  let project: SwarmProject;

  beforeAll(async () => {
    await testbed.open();
    carrel = testbed.installation();
    const wants = { header: 'x-api-key', value };
    model = await ScriptedModel.open(obeys, { tls: authority.tls('127.0.0.1'), wants });
    carrel.write('home/ca.pem', authority.certificate);
    appendFileSync(join(carrel.home, 'config.yaml'), `authorities: [${join(carrel.home, 'ca.pem')}]\n${config}`);
    await carrel.run(['secret', 'set', 'KEY'], { input: value });
    const host = `127.0.0.1:${model.port}`;
    await carrel.ok('credential', 'add', 'model', '--secret', 'KEY', '--preset', 'anthropic', '--host', host);
    project = new SwarmProject(carrel, 'project', { claude: stories('claude'), acp: stories('acp') });
    for (const name of files)
      cpSync(resolve('node_modules', name), join(project.path, 'tools/node_modules', name), { recursive: true });
    testbed.give(project.repository);
  });
  afterAll(async () => {
    await carrel.dispose();
    await model.dispose();
    await testbed.close();
  });

  it('claude and an ACP agent do their stories, and never have the key', async () => {
    const env = ['DISABLE_AUTOUPDATER=1', 'DISABLE_TELEMETRY=1', `CLAUDE_CODE_EXECUTABLE=${modules}/${cli}`];
    const grants = ['--memory-scope', 'user', '--memory-bank'];
    const options = [...testbed.options, ...grants, ...env.flatMap((one) => ['--env', one])];
    for (const name of ['claude', 'acp']) {
      const run = ['run', '--file', project.file(name), '--agent', name, '-d', ...options];
      await project.swarm(...run);
    }
    const { containers } = await project.until('the end', hasEnded);
    expect(containers.map(({ status, errors }) => [status, errors])).toEqual([
      ['completed', []],
      ['completed', []],
    ]);
    expect(containers.map(({ stories: [first] }) => first?.output)).toEqual(['I did it.', 'I did it.']);
    expect(project.wrong()).toEqual([]);
    for (const name of ['claude', 'acp']) expect(await carrel.ok('logs', name)).not.toContain(value);
    // The model saw each tool of each server once, though the ACP agent gets the servers by its file and by the
    // protocol.
    for (const { tools = [] } of model.questions.filter(({ messages }) => messages.length > 1)) {
      const names = tools.map(({ name }) => name).filter((name) => /memory_save|bank_read/.test(name));
      expect(names.sort()).toEqual(['mcp__memory-bank__memory_bank_read', 'mcp__memory__memory_save']);
    }
  });
});
